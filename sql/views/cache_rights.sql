-- The rights on a project's cached responses, by kind of caller; all code reads them here. API keys get theirs when they are admitted;
-- require_cache_right() checks members and operators. docs/sharing.md shows the table.

create or replace view cache_rights with (security_invoker = true) as
select p.id as project_id, r.action, r.caller
from projects p
cross join (
    values
        -- The choices of the setting that grant the right. A key acts only within the sharing scope of its request, all others in the whole
        -- project.
        ('judge', 'project', '{any}'::text[]),
        ('judge', 'test', '{any}'),
        ('judge', 'member', '{any,members}'),
        ('judge', 'owner', '{any,members}'),
        ('judge', 'operator', '{any,members,none}'),
        ('refresh', 'project', '{any}'),
        ('refresh', 'test', '{any}'),
        ('purge', 'member', null),
        ('purge', 'owner', null),
        ('purge', 'operator', null)
) r (action, caller, choices)
where r.choices is null
    or case r.action when 'judge' then p.cache_feedback when 'refresh' then p.cache_refresh end = any (r.choices);

comment on view cache_rights is 'The rights on the cached responses of each project, according to its settings. No row: not permitted.';
comment on column cache_rights.action is 'judge: call a semantic hit or near miss wrong or right, and withdraw a verdict (setting cache_feedback). refresh: have a response of one''s own replace a cached one (setting cache_refresh). purge: delete cached responses.';
comment on column cache_rights.caller is 'project, test: an API key of this type, within the sharing scope of its request. viewer, member, owner: a user with this role, by session or admin key, in the whole project; administrators are owners. operator: whoever has psql.';
