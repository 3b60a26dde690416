"""What a question is asked with: the settings, and the hypotheses in force with what they want to be read."""

from __future__ import annotations

from dataclasses import dataclass

from necroscope.config import Config
from necroscope.diagnose.hypotheses import Catalogue
from necroscope.diagnose.judge import judge, orders_wanted
from necroscope.explain.mechanism_files import hypotheses_of
from necroscope.query.case.fixed_store import FixedStore
from necroscope.query.case.read import read_case
from necroscope.query.case.wanted import Orders
from necroscope.vocabulary.case import Case
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.verdict import Complaint, Verdict


@dataclass(frozen=True, slots=True)
class Known:
    """Settings and hypotheses."""

    config: Config
    catalogue: Catalogue
    orders: Orders

    @classmethod
    def of(cls, config: Config | None, known: Catalogue | None) -> Known:
        """Those that are given, else the usual ones."""
        hypotheses = known if known is not None else hypotheses_of()
        return cls(config or Config(), hypotheses, Orders(*orders_wanted(hypotheses)))

    def case(self, store: FixedStore, symptom: Complaint, recorded: Window, others: bool = True) -> Case:
        """Everything about a symptom."""
        return read_case(store, symptom, recorded, self.config, orders=self.orders, others=others)

    def verdict(self, case: Case) -> Verdict:
        """What a case means."""
        return judge(case, self.catalogue)
