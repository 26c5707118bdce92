"""Joint mechanisms between users: pairing, and drawing together without seeing each other's draw. Experimental.

JointRandomness, Participant          commit, deal, reveal: 32 bytes that nobody controls
replay                                the same from its public record
take_part                             one user's round with a board (board.py and member.py run the others)
pair_users, Pairing                   from those bytes to pairs, in public
Thresholds                            the law of a pair in integers
draw_as_first, draw_as_second         two users draw (T1, T2); each learns their own
draw_many_as_first, …_second          many draws with the same partner
converse, converse_together           run a protocol over a link, or both sides in one process
SocketLink, SealedLink, Identity      frames, and end-to-end encryption
JointSurvey, answer_jointly           the public document, and one user's answer, paid for by a ledger
joint_privacy, answer_cost            its three levels, and what an answer costs
BlindRequest, read_partner            hidden pairing by a committee (committee.py runs it)

Semi-honest between partners: both sides must follow the protocol, and one who cheats can fix the other's coin and so read their
answer. `two_party` and `committee` say what a dishonest one could do. The commands are those of `deniable joint`.
"""
