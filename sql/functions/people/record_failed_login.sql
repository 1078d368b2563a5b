create or replace function record_failed_login(of_email text, client_address text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    perform count_login_attempt(of_email, client_address, 1);
    perform set_config('proxy_caller.actor', left(fold_email(of_email), 254), true);
    perform set_config('proxy_caller.address', client_address, true);
    perform audit('login.failed', null, 'login');
end;
$$;

comment on function record_failed_login(text, text) is 'Counts a failed login, and records it in the audit log. Limits count by the address.';
