"""Which trackers bare references belong to, as the operator configured them."""

from agentm_assets.config.settings import EntitiesTable
from agentm_assets.extract.entity_context import EntityContext


def entity_context(trackers: EntitiesTable) -> EntityContext:
    return EntityContext(
        repo=trackers.repo,
        jira_projects=trackers.jira_projects,
        gerrit_hosts=trackers.gerrit_hosts,
        gitlab_hosts=trackers.gitlab_hosts,
    )
