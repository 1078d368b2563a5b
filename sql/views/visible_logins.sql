-- The view runs with its owner's rights, so it filters the rows itself: those who may see a user see the login.

create or replace view visible_logins as
select
    l.user_id,
    l.can_log_in,
    l.invited_until,
    l.last_seen_at
from logins l
where current_user_id() is null
    or l.user_id = current_user_id()
    or (select is_administrator())
    or l.user_id in (
        select m.user_id
        from memberships m
        join memberships own on own.project_id = m.project_id
        where own.user_id = current_user_id()
    );

comment on view visible_logins is 'The logins that the current user may see; an operator with psql sees all.';
