"""The eight tasks, one in each file, with the policies of the three sides beside each other."""

from bench.tasks.policies import (
    django_add_book,
    django_sold_out,
    jupyter_rename,
    jupyter_run_cell,
    mlflow_best_run,
    mlflow_delete_failed,
    node_red_measure,
    node_red_path,
)
from bench.tasks.task import Task

TASKS: tuple[Task, ...] = (
    django_add_book.TASK,
    django_sold_out.TASK,
    jupyter_run_cell.TASK,
    jupyter_rename.TASK,
    node_red_measure.TASK,
    node_red_path.TASK,
    mlflow_best_run.TASK,
    mlflow_delete_failed.TASK,
)
