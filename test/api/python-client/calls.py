"""Calls of a client that was generated from openapi/muster.json; writes what it got as one JSON object.

    MUSTER_TEST_TOKEN=... python calls.py URL       with the folder of the package muster_client in PYTHONPATH
"""

from __future__ import annotations

import json
import os
import sys

from muster_client import AuthenticatedClient, Client
from muster_client.api.components import get_component, get_components, post_hostlists
from muster_client.api.webhooks import delete_webhook, get_webhook, get_webhooks, patch_webhook, post_webhooks
from muster_client.models import (
    HostlistBody,
    PatchWebhookBody,
    PostWebhooksBody,
    PostWebhooksBodyEventsItem,
    Problem,
)
from muster_client.types import UNSET

client = AuthenticatedClient(base_url=sys.argv[1], token=os.environ['MUSTER_TEST_TOKEN'])


def seen(answer):
    """Status of an answer, the class that the client made of its body, and that body as it is sent."""
    parsed = answer.parsed
    body = parsed.to_dict() if hasattr(parsed, 'to_dict') else parsed
    return {'status': int(answer.status_code), 'class': type(parsed).__name__, 'body': body}


def webhook(name: str) -> PostWebhooksBody:
    """A webhook with this name."""
    events = [PostWebhooksBodyEventsItem.SESSION_ENDED]
    return PostWebhooksBody(name=name, url='https://hooks.example.test/x', events=events)


def pages():
    """Names of all webhooks, page after page with the parameters that `next` has."""
    found, after = [], UNSET
    while True:
        page = get_webhooks.sync(client=client, limit=2, after_id=after)
        found.append([one.name for one in page.webhooks])
        if page.next_ is None:
            return found
        after = page.next_['after_id']


def components():
    """Ids and statuses of all components, page after page."""
    found, after = [], UNSET
    while True:
        page = get_components.sync(client=client, limit=2, after_id=after, count=True)
        found.append([[one.id, str(one.status), page.total] for one in page.components])
        if page.next_ is None:
            return found
        after = page.next_['after_id']


made = post_webhooks.sync(client=client, body=webhook('ops'), muster_reason='a%20test')
answers = {
    'made': {'name': made.name, 'secret': bool(made.secret), 'events': [str(one) for one in made.events]},
    'again': seen(post_webhooks.sync_detailed(client=client, body=webhook('ops'))),
    'changed': seen(patch_webhook.sync_detailed('ops', client=client, body=PatchWebhookBody(enabled=False))),
}
for name in ['a', 'b', 'c', 'd']:
    post_webhooks.sync(client=client, body=webhook(name))
answers['pages'] = pages()
answers['components'] = components()
answers['component'] = seen(get_component.sync_detailed('n1', client=client))
answers['hosts'] = seen(post_hostlists.sync_detailed(client=client, body=HostlistBody(hosts='n[1-3]')))
answers['mistake'] = seen(post_hostlists.sync_detailed(client=client, body=HostlistBody(hosts='n[3-1]')))
answers['deleted'] = seen(delete_webhook.sync_detailed('ops', client=client))
absent = get_webhook.sync(webhook='ops', client=client)
answers['absent'] = {'is_problem': isinstance(absent, Problem), 'code': str(absent.code), 'detail': absent.detail}
answers['stranger'] = seen(get_webhooks.sync_detailed(client=Client(base_url=sys.argv[1])))
print(json.dumps(answers))
