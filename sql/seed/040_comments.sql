-- A column without a comment is what the column of that name in another table is.
do $$
declare
    place text;
    as_in text;
    alike record;
begin
    -- In this order: what one table has from another, a third has from it.
    for place, as_in in
        values
            ('cache_entries', 'usage_records'),
            ('cached_vectors', 'cache_entries'),
            ('cache_size_changes', 'cache_sizes'),
            ('cache_groups', 'cache_prompts'),
            ('cache_verdicts', 'cache_prompts'),
            ('judge_queue', 'cache_verdicts'),
            ('standing_verdicts', 'cache_verdicts'),
            ('model_prices', 'models'),
            ('model_unit_prices', 'models'),
            ('budget_reservations', 'budget_periods'),
            ('open_responses', 'usage_records'),
            ('request_contents', 'usage_records'),
            ('usage_sums', 'usage_records'),
            ('usage_tagged', 'usage_sums'),
            ('latency_counts', 'usage_sums'),
            ('usage_pending', 'usage_sums'),
            ('usage_pending', 'latency_counts'),
            ('usage_pending', 'usage_records'),
            ('usage_by_record', 'usage_pending'),
            ('usage_hourly', 'usage_sums')
    loop
        for alike in
            select c.attname, col_description(d.attrelid, d.attnum) as comment
            from pg_attribute c
            join pg_attribute d on d.attname = c.attname and d.attrelid = as_in::regclass
            where c.attrelid = place::regclass
                and c.attnum > 0
                and col_description(c.attrelid, c.attnum) is null
                and col_description(d.attrelid, d.attnum) is not null
        loop
            execute format('comment on column %I.%I is %L', place, alike.attname, alike.comment);
        end loop;
    end loop;
end
$$;
