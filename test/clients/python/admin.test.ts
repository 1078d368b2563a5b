import { describe, expect, test } from 'vitest'
import { describeOnce } from '../../harness/backends.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { addUser, issueAdminKey } from '../../integration/admin/people.ts'
import { preparePython } from './prepare-python.ts'

const WALK = `
import json, os, time
from openai import OpenAI

client = OpenAI(admin_api_key=os.environ["ADMIN_KEY"], base_url=os.environ["BASE_URL"], max_retries=0)
organization = client.admin.organization
project = organization.projects.create(name="from-python")
names = [each.name for each in organization.projects.list(limit=1)]
since = int(time.time()) - 86400
usage = organization.usage.completions(start_time=since, bucket_width="1d", group_by=["project_id", "model"])
costs = organization.usage.costs(start_time=since)
events = [event.type for event in organization.audit_logs.list(project_ids=[project.id])]
account = organization.projects.service_accounts.create(project.id, name="terraform")
accounts = [each.id for each in organization.projects.service_accounts.list(project.id)]
organization.projects.service_accounts.delete(account.id, project_id=project.id)
allowed = organization.projects.model_permissions.update(project.id, mode="allow_list", model_ids=["openai/*"])
invite = organization.invites.create(email="new@example.org", role="reader", projects=[{"id": project.id, "role": "member"}])
invited = [each.status for each in organization.invites.list() if each.id == invite.id]
organization.invites.delete(invite.id)
archived = organization.projects.archive(project.id)
key = organization.admin_api_keys.create(name="made by python")
organization.admin_api_keys.delete(key.id)
print(json.dumps({
    "project": project.name,
    "names": names,
    "requests": sum(result.num_model_requests for bucket in usage.data for result in bucket.results),
    "cost": costs.data[-1].object,
    "events": events,
    "accounts": accounts == [account.id] and account.api_key.value[:9],
    "allowed": allowed.model_ids,
    "invited": invited,
    "status": archived.status,
    "emails": [user.email for user in organization.users.list()],
}))
`

const prepared = await preparePython()

describe.skipIf('missing' in prepared)(
  'missing' in prepared ? `from Python: ${prepared.missing}` : 'from Python',
  () => {
    const { python, environment } = 'python' in prepared ? prepared : { python: '', environment: {} }

    // Python sees only the admin API, whose own tests run on each database.
    describeOnce('the admin API', backend => {
      const proxy = duringTests(() => startProxy({ dashboard: true, stores: backend.open() }))

      test('works with OpenAI’s own package: a project, its usage and costs, the audit log', async () => {
        await addUser(proxy, 'root@example.org', 'owner')
        const ADMIN_KEY = await issueAdminKey(proxy, 'root@example.org')
        const key = await proxy.createKey({ project: 'existing' })
        for (const content of ['one', 'two']) {
          await fetch(`${proxy.baseUrl}/chat/completions`, {
            method: 'POST',
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
            body: JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }] }),
          })
        }
        await proxy.settle()
        const walked = Bun.spawn([python, '-c', WALK], {
          env: { ...process.env, ...environment, ADMIN_KEY, BASE_URL: proxy.baseUrl },
          stdout: 'pipe',
          stderr: 'pipe',
        })
        const [out, err] = await Promise.all([new Response(walked.stdout).text(), new Response(walked.stderr).text()])
        expect([await walked.exited, err]).toEqual([0, ''])
        expect(JSON.parse(out)).toEqual({
          project: 'from-python',
          names: ['existing', 'from-python'],
          requests: 2,
          cost: 'bucket',
          events: ['project.created'],
          accounts: 'lgw_proj_',
          allowed: ['openai/*'],
          invited: ['pending'],
          status: 'archived',
          emails: ['root@example.org'],
        })
      })
    })
  },
)
