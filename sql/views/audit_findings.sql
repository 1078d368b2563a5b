-- The findings of an audit of the last month. run_audit() accepts another period, or a single project.

create or replace view audit_findings as
select kind, severity, project, api_key, at, subject, expected, found
from run_audit(null, null, null);

comment on view audit_findings is 'Contradictions of the last 31 days between limits, budgets, and requests admitted, reserved, settled and recorded. Empty: none.';
comment on column audit_findings.kind is 'The kind of finding: a row of audit_kinds(), which explains it.';
comment on column audit_findings.severity is 'violation, or notice, which no rule forbids.';
comment on column audit_findings.project is 'The project''s name. Null: it concerns no single one.';
comment on column audit_findings.api_key is 'The key''s id. Null: it concerns no single one.';
comment on column audit_findings.at is 'When it happened first, or the beginning of the affected period.';
comment on column audit_findings.subject is 'The contradicting object: records, a budget, a sum.';
comment on column audit_findings.expected is 'The expected value.';
comment on column audit_findings.found is 'The actual value.';
