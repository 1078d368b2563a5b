-- What an audit of the last month finds; run_audit() takes another period, or a single project.

create or replace view audit_findings as
select kind, severity, project, api_key, at, subject, expected, found
from run_audit(null, null, null);

comment on view audit_findings is 'Everything in the last 31 days that was admitted, reserved, settled or recorded against limits, budgets or each other; empty: nothing.';
comment on column audit_findings.kind is 'What kind of finding: a row of audit_kinds(), which says what it means.';
comment on column audit_findings.severity is 'violation, or notice, which no rule forbids.';
comment on column audit_findings.project is 'The project''s name. Null: it concerns no single one.';
comment on column audit_findings.api_key is 'The key''s id. Null: it concerns no single one.';
comment on column audit_findings.at is 'When it happened first, or the beginning of the period that it concerns.';
comment on column audit_findings.subject is 'What disagrees: records, a budget, a sum.';
comment on column audit_findings.expected is 'What should be.';
comment on column audit_findings.found is 'What is.';
