"""Shows runs, datasets and evaluations on a read-only page, served or in one HTML file."""

from prorl_viewer.export import write_html
from prorl_viewer.finding import Subjects, find_subjects, report_subjects
from prorl_viewer.subject import NotFoundError, Private, Subject

__all__ = [
    "NotFoundError",
    "Private",
    "Subject",
    "Subjects",
    "find_subjects",
    "report_subjects",
    "write_html",
]
