"""The devices of all people: each fetches its token first, and answers later, through the relay.

python devices.py SURVEY --shuffler URL --relay URL --codes codes.txt
"""

from __future__ import annotations

import argparse
import secrets
import tempfile
from pathlib import Path

from deniable.errors import NotAdmitted
from deniable.privacy import ObliviousTransport, Wallet, anonymous_session
from deniable.surveys import HttpTransport, Ledger, Survey

ANSWERS = ("bike", "bus", "car", "walk")


def main() -> None:
    """Fetch all tokens, then send all reports; a second report with a used code is refused."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("survey")
    parser.add_argument("--shuffler", required=True)
    parser.add_argument("--relay", required=True)
    parser.add_argument("--codes", type=Path, required=True)
    given = parser.parse_args()
    codes = given.codes.read_text().split()
    survey_hash = given.survey.rstrip("/").rpartition("/")[2]
    direct, relayed = HttpTransport(), ObliviousTransport(given.relay)
    with tempfile.TemporaryDirectory() as folder:
        survey = Survey.from_json(relayed.get(f"{given.shuffler}/v1/surveys/{survey_hash}")[1], hash=survey_hash)
        wallets = [Wallet(f"{folder}/wallet{number}.db") for number in range(len(codes))]
        for wallet, code in zip(wallets, codes, strict=True):
            wallet.fetch(survey, code, direct)
        print(f"{len(wallets)} people have a token each.")
        try:
            Wallet(f"{folder}/again.db").fetch(survey, codes[0], direct)
        except NotAdmitted as refused:
            print(f"A code that was used: {refused}")
        for number, wallet in enumerate(wallets):
            # A person of 8 lifetime epsilon spends 4 of them here.
            session = anonymous_session(
                given.shuffler, survey_hash, Ledger(f"{folder}/ledger{number}.db"), transport=relayed, wallet=wallet
            )
            assert session.answer({"commute": secrets.choice(ANSWERS)}).delivered
        print(f"{len(wallets)} reports were sent through the relay.")


if __name__ == "__main__":
    main()
