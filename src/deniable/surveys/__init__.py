"""A survey: what is asked, by which mechanism, at which price; and what runs on a person's device.

Standard library only. A device checks the survey itself, randomizes and forgets.

Survey                                the document; `from_toml` writes it, `from_json` checks somebody else's
survey_from_toml                      a survey file as people write it; `surveys_from_toml` for one with groups
Asked                                 what somebody who chooses a mechanism for `auto` may know
Admission, Shuffle                    whose tokens it asks for, and how reports are mixed on their way
Steps, LIVE                           when its collector publishes new numbers
Submission, encode_*, decode_*        what a device sends to a collector
Client                                randomizes by somebody else's recipe, after checking it
Session                               answers a survey within its budget and sends until it is acknowledged
Ledger                                what this device has spent and drawn, in a file
StreamDevice                          a stream of reports over many periods, with its memory and budget on disk
Memo, Repeated                        permanent bits and repeated answers, kept on disk

The formats are written down in spec/survey-v1.md and spec/submission-v1.md.
"""

from deniable._door import door

__getattr__, __dir__, __all__ = door(__name__)
