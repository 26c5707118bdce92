"""What was promised to a person, in all: several answers, repeated answers, and what the crowd adds.

basic, composed_epsilon, composed_delta, composed_exactly, parallel, group      several answers
Odometer                                                                        a running account
repeated                                                                        the same question again and again
shuffled_epsilon, shuffled_delta, shuffling_conditions                          reports without their senders
attained_epsilon, attained_delta                                                what no bound can be below
gaussian_delta, gaussian_epsilon, gaussian_sigma, loss_exceeds                  Gaussian noise
indicator                                                                       raw values, published now and then
central                                                                         what all people's reports promise together
posterior, guess_right, bits_learned, in_words                                  what a level means

What colluding users learn from joint answers is in deniable.joint (`accounting`).
"""

from deniable.privacy.approximate import Exposed, gaussian_delta, gaussian_epsilon, gaussian_sigma, indicator, loss_exceeds
from deniable.privacy.central import Central, central, group_words
from deniable.privacy.composition import (
    advanced_epsilon,
    basic,
    composed_delta,
    composed_epsilon,
    composed_exactly,
    group,
    parallel,
)
from deniable.privacy.conditions import shuffling_conditions
from deniable.privacy.longitudinal import Repeated, repeated
from deniable.privacy.odometer import Odometer
from deniable.privacy.shuffling import (
    attained_delta,
    attained_epsilon,
    shuffled_delta,
    shuffled_epsilon,
)
from deniable.privacy.words import bits_learned, guess_right, in_words, posterior

__all__ = [
    "Central",
    "Exposed",
    "Odometer",
    "Repeated",
    "advanced_epsilon",
    "attained_delta",
    "attained_epsilon",
    "basic",
    "bits_learned",
    "central",
    "composed_delta",
    "composed_epsilon",
    "composed_exactly",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_sigma",
    "group",
    "group_words",
    "guess_right",
    "in_words",
    "indicator",
    "loss_exceeds",
    "parallel",
    "posterior",
    "repeated",
    "shuffled_delta",
    "shuffled_epsilon",
    "shuffling_conditions",
]
