create or replace function issue_session_key(project text, key_type text, of_session bigint) returns text
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    opened_in sessions;
    made record;
begin
    -- The lock delays a concurrent logout until the key exists, so that the logout also ends the key.
    select s.* into opened_in
    from sessions s
    where s.id = of_session and s.user_id = current_user_id()
    for key share;
    if opened_in.id is null then
        raise exception 'this session does not exist, or has ended' using errcode = 'no_data_found';
    end if;
    select * into made
    from create_api_key(
        project,
        key_type,
        'playground of ' || left((select u.email from users u where u.id = opened_in.user_id), 70) || ' ' || left(md5(random()::text), 6),
        now() + interval '1 hour'
    );
    update api_keys k set session_id = opened_in.id where k.id = made.id;
    return made.value;
end;
$$;

comment on function issue_session_key(text, text, bigint) is 'A key of one session of the current user: it is valid for an hour, not listed, and ends with the session. Raises as create_api_key() does, and no_data_found for a session that has ended.';
