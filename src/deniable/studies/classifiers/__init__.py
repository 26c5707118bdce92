"""How often does a model still answer right when its input is perturbed?"""
