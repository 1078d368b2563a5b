create or replace function add_member(project text, member_email text, member_role text) returns table (
    id bigint,
    invitation text
)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
declare
    known bigint;
    token text;
begin
    perform require_project_role(project, 'owner');
    select u.id into known from users u where u.email = fold_email(member_email);
    if known is null then
        -- A project owner may invite new users, because they see nothing but the project.
        known := add_user(member_email, 'reader');
        token := create_invitation(known);
    end if;
    perform add_membership(project, known, member_role);
    return query select known, token;
end;
$$;

comment on function add_member(text, text, text) is 'Makes the user with that e-mail address owner, member or viewer of a project. Raises unique_violation where the user is a member. An unknown address is added as a user, and the invitation returned; it is not shown again. Requires an owner of the project. Null: invitation (the user was known).';
