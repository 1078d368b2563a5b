create or replace function maintain_dashboard() returns void
language sql
volatile
set search_path = public, pg_temp
as $$
    delete from usage_sums u where u.at < current_month() - interval '13 months';
    delete from usage_tagged u where u.at < current_month() - interval '13 months';
    delete from budget_periods p where p.begins < now() - interval '13 months' and p.begins <> 'epoch';
    delete from latency_counts l where l.at < current_month() - interval '13 months';
    delete from refusals_hourly r where r.hour < current_month() - interval '13 months';
    delete from kept_objects k where k.collection = 'references' and k.expires_at < now();
    delete from events e where e.at < now() - interval '90 days';
    delete from sessions s where s.expires_at < now();
    delete from invitations i where i.expires_at < now();
    delete from login_attempts l
    where l.first_at < now() - case when l.subject like 'known:%' then interval '30 days' else interval '1 hour' end;
$$;

comment on function maintain_dashboard() is 'Deletes outdated rows: sums after 13 months, expired sessions, invitations and ids that a provider has forgotten, old login attempts, events after 90 days.';
