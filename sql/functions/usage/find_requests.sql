create or replace function find_requests(
    of_project bigint,
    from_time timestamptz,
    until_time timestamptz,
    of_key bigint default null,
    model_part text default null,
    of_endpoint text default null,
    of_provider text default null,
    of_result text default null,
    of_outcome text default null,
    of_status smallint default null,
    of_error text default null,
    of_end_user text default null,
    of_request_id text default null,
    of_tags jsonb default null,
    sorted text default 'newest',
    after_time timestamptz default null,
    after_request_id text default null,
    page_size integer default 20,
    of_model text default null,
    of_key_type text default null,
    of_asked_id text default null,
    of_session text default null
)
returns table (
    record usage_records,
    key_name text,
    api_key_redacted_value text
)
language plpgsql
stable
set search_path = model_proxy, pg_temp
-- JIT compilation would take longer than the search.
set jit = off
as $$
declare
    model_pattern constant text := '%' || regexp_replace(model_part, '([\\%_])', '\\\1', 'g') || '%';
    of_class constant smallint := of_status / 100;
    -- All requests with an error are in the index of failed requests.
    outcome constant text := coalesce(of_outcome, case when of_error is not null or of_status >= 400 then 'failed' end);
    -- $19 is the sort value of the last record before the page.
    after_page constant text := case sorted
        when 'slowest' then '
            and r.duration_ms >= 1000 and ($14 is null or r.duration_ms <= $19::real and (r.duration_ms, r.recorded_at, r.request_id) < ($19::real, $14, $15))'
        when 'dearest' then '
            and r.cost_usd > 0 and ($14 is null or r.cost_usd <= $19::numeric and (r.cost_usd, r.recorded_at, r.request_id) < ($19::numeric, $14, $15))'
        else '
            and ($14 is null or r.recorded_at <= $14 and (r.recorded_at, r.request_id) < ($14, $15)) and $19 is null'
        end;
    in_order constant text := ' order by '
        || case sorted when 'slowest' then 'r.duration_ms desc, ' when 'dearest' then 'r.cost_usd desc, ' else '' end
        || 'r.recorded_at desc, r.request_id desc';
    -- Adding zero avoids the index on the sort value, through which every record before those of a rare model would be read one by one.
    ordering constant text := after_page || replace(replace(in_order, 'duration_ms', 'duration_ms + 0'), 'cost_usd', 'cost_usd + 0') || ' limit $16';
    spanned constant text := '
            where r.project_id = $1
                and r.recorded_at >= $2
                and r.recorded_at < $3';
    chosen constant text := '
                and ($4 is null or r.key_id = $4)
                and ($5 is null or r.model ilike $5)
                and ($6 is null or r.endpoint = $6)
                and ($7 is null or r.provider = $7)
                and ($8 is null or r.cache_result = $8)
                and ($9 is null or case $9 when ''ok'' then r.status < 400 when ''estimated'' then r.cost_estimated is not null when ''client_error'' then r.status between 400 and 499 when ''server_error'' then r.status >= 500 else r.status >= 400 end)
                and ($10 is null or r.status = $10)
                and ($11 is null or r.error_code = $11)
                and ($12 is null or r.end_user = $12)
                and ($13 is null or r.request_id = $13)
                and ($17 is null or r.tags @> $17)
                and ($20 is null or r.model = $20)
                and ($23 is null or r.asked_id = $23)
                and ($24 is null or r.session = $24)
                and ($21 is null or (r.key_id in (select k.id from api_keys k where k.project_id = $1 and k.type = ''test'')) = ($21 = ''test''))';
    filtered constant text := '
            from ' || case
                when coalesce(of_request_id, of_asked_id) is not null then 'find_records_by_id($1, $13, $23, $2, $3)'
                when of_tags ? 'user_id' then 'records_of_tagged_user($1, $17 ->> ''user_id'', $2, $3)'
                else 'usage_records'
            end || ' r' || spanned || chosen;
    in_span constant text := 'select r.*' || filtered || ordering;
    -- The first records in the index on the sort value, or the newest. They suffice if there are no others, or if enough of them match.
    among_first constant text := '
        with first as materialized (
            select r.* from usage_records r' || spanned || case when outcome in ('failed', 'client_error', 'server_error') then ' and r.status >= 400' else '' end || after_page || in_order || ' limit $22
        )
        select
            (select count(*) from first) < $22,
            array(
                select row(x.*)::usage_records
                from (select r.* from first r where true' || chosen || in_order || ' limit $16) x
            )';
    most_first constant integer := 20000;
    -- $18 contains hours; $2 and $3 enclose them.
    in_hours constant text := '
        select r.*
        from unnest($18) as h (at)
        cross join lateral (
            select r.*' || filtered || '
                and r.recorded_at >= h.at
                and r.recorded_at < h.at + interval ''1 hour''' || ordering || '
        ) r
        where true' || ordering;
    named constant text := '
        select row(f.*)::usage_records, k.name, k.redacted_value
        from (%s) f
        left join api_keys k on k.id = f.key_id
        order by %s desc, f.recorded_at desc, f.request_id desc';
    sorting constant text := case sorted when 'slowest' then 'f.duration_ms' when 'dearest' then 'f.cost_usd' else 'f.recorded_at' end;
    value_before constant text := case when sorted <> 'newest' then (
        select case sorted when 'slowest' then a.duration_ms::text else a.cost_usd::text end
        from usage_records a
        where a.project_id = of_project and a.recorded_at = after_time and a.request_id = after_request_id
        limit 1
    ) end;
    first_found usage_records[];
    are_all boolean;
    hours timestamptz[];
    earlier_than timestamptz := until_time;
    wanted integer := page_size;
    -- The number of hours doubles each time: the newest page is found in a few hours, and a search for rare records needs few statements.
    most_hours integer := case when sorted = 'newest' then 2 end;
    found_rows integer;
    wanted_bits constant bit(32768) := tag_bits(of_tags);
begin
    if (sorted <> 'newest' or of_asked_id is not null) and of_request_id is null and of_tags ->> 'user_id' is null then
        execute among_first into are_all, first_found
        using of_project, from_time, until_time, of_key, model_pattern, of_endpoint, of_provider, of_result, outcome, of_status,
            of_error, of_end_user, of_request_id, after_time, after_request_id, page_size, of_tags, hours, value_before, of_model,
            of_key_type, most_first, of_asked_id, of_session;
        if are_all or cardinality(first_found) = page_size then
            return query execute format(named, 'select * from unnest($1)', sorting) using first_found;
            return;
        end if;
    end if;
    -- These have an index of their own, or no sums that show their hours.
    if coalesce(of_end_user, of_session, of_request_id, of_asked_id, of_error, of_tags ->> 'user_id') is not null or of_status >= 400 or outcome = 'estimated' then
        return query execute format(named, in_span, sorting)
        using of_project, from_time, until_time, of_key, model_pattern, of_endpoint, of_provider, of_result, outcome, of_status,
            of_error, of_end_user, of_request_id, after_time, after_request_id, page_size, of_tags, hours, value_before, of_model,
            of_key_type, most_first, of_asked_id, of_session;
        return;
    end if;
    if sorted = 'newest' and after_time < until_time then
        earlier_than := after_time + interval '1 microsecond';
    end if;

    loop
        -- The sums show which hours contain matching requests.
        select array_agg(c.at order by c.at desc) into hours
        from (
            (
                select h.at
                from (
                    select distinct s.at
                    from usage_sums s
                    where s.project_id = of_project
                        and s.grain = 'hour'
                        and s.at > from_time - interval '1 hour'
                        and s.at < earlier_than
                        and (of_key is null or s.key_id = of_key)
                        and (of_key_type is null or (s.key_id in (
                            select k.id from api_keys k where k.project_id = of_project and k.type = 'test'
                        )) = (of_key_type = 'test'))
                        and (of_model is null or s.model = of_model)
                        and (model_part is null or s.model ilike model_pattern)
                        and (of_endpoint is null or s.endpoint = of_endpoint)
                        and (of_provider is null or s.provider = of_provider)
                        and (of_result is null or s.cache_result = of_result)
                        and (outcome is null or case outcome when 'ok' then s.status_class < 4 when 'client_error' then s.status_class = 4 when 'server_error' then s.status_class >= 5 else s.status_class >= 4 end)
                        and (of_class is null or s.status_class = of_class)
                        and (sorted <> 'dearest' or s.cost_usd > 0)
                        and (sorted <> 'slowest' or s.slow_requests > 0)
                    order by s.at desc
                    offset 0
                ) h
                where of_tags is null
                    -- Sums by single tags come first: a few reads show that an hour lacks one. Offset: else the planner would read all hours of
                    -- the project into a hash table.
                    or not exists (
                        select
                        from jsonb_each_text(of_tags) as g (name, value)
                        where not exists (
                            select
                            from usage_sums_by_name v
                            where v.project_id = of_project and v.grain = 'hour' and v.kind = 'tag' and v.at = h.at and v.name = g.name || '=' || g.value
                        )
                    )
                    and exists (
                        select
                        from usage_sums_by_tag t
                        where t.project_id = of_project and t.grain = 'hour' and t.at = h.at and t.tags @> of_tags
                        offset 0
                    )
                    or exists (
                        select from usage_tag_filters f where f.project_id = of_project and f.at = h.at and f.bits & wanted_bits = wanted_bits offset 0
                    )
                order by h.at desc
                limit most_hours
            )
            union
            (
                select distinct date_trunc('hour', p.at, 'UTC') as at
                from usage_pending p
                where p.project_id = of_project
                    and date_trunc('hour', p.at, 'UTC') > from_time - interval '1 hour'
                    and date_trunc('hour', p.at, 'UTC') < earlier_than
                order by at desc
                limit most_hours
            )
            order by at desc
            limit most_hours
        ) c;
        exit when hours is null;

        return query execute format(named, case sorted when 'newest' then in_hours else in_span end, sorting)
        using of_project, greatest(from_time, hours[cardinality(hours)]), least(until_time, hours[1] + interval '1 hour'), of_key,
            model_pattern, of_endpoint, of_provider, of_result, outcome, of_status, of_error, of_end_user, of_request_id, after_time,
            after_request_id, wanted, of_tags, hours, value_before, of_model, of_key_type, most_first,
            of_asked_id, of_session;
        get diagnostics found_rows = row_count;
        wanted := wanted - found_rows;
        exit when wanted <= 0 or most_hours is null;
        earlier_than := hours[cardinality(hours)];
        most_hours := most_hours * 2;
    end loop;
end;
$$;

comment on function find_requests(
    bigint, timestamptz, timestamptz, bigint, text, text, text, text, text, smallint, text, text, text, jsonb, text, timestamptz, text, integer, text,
    text, text, text
) is 'Single requests of a project within a time, with what is set of: key, type of key (project, test), model or part of its name, endpoint, provider, cache result, outcome (ok, failed, client_error, server_error, or estimated: its cost is), status, error code, end user, X-Request-Id, tags, hash of the request (asked_id), session; those after the one at after_time. Sorted newest; slowest, of those that took a second or longer; dearest, of those that cost anything. Null: key_name, api_key_redacted_value (the key is gone).';
