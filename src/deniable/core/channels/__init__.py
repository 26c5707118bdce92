"""Randomised maps from an index to an output, with integer weights. Standard library only.

TwoLevel        favoured outputs weigh `high`, the others `low`; what is favoured is a set system
Nested          windows inside windows: several levels around the true cell
Profile         the weight depends on the distance only (Laplace, staircase, Gaussian, Purkayastha)
Reference       two levels on top of a reference weight that is not constant
Table           any matrix of weights
Bits            independent bits, one of them favoured
SignedBits      for every key nothing, a plus or a minus, one key's sign favoured
PickedItem      one item of a set, padded to a fixed size, reported by another channel
Pair            two users who lie together (see deniable.studies.joint)
Product         several channels side by side
Interpolated    a channel entered between two of its inputs
SeveralDigits   a few digits of a record's number, read as one
Mixture         a public coin chooses the channel
Chain           one channel after another

Ask a channel, not for its type: `sums` (what a collector adds up), `support` and `supports` (which values a report speaks
for), `layers`, `alternatives`, `between` and `set_system` (what it is made of), `possible`, `occurring` and `mass` (its outputs).

A channel is loaded when it is first asked for: a first report must not wait for those it does not use.
"""
