create or replace function parse_networks(given text[]) returns cidr[]
language plpgsql
immutable
set search_path = model_proxy, pg_temp
as $$
declare
    item text;
    network inet;
    networks cidr[] := '{}';
begin
    foreach item in array given loop
        begin
            network := btrim(item)::inet;
        exception
            when invalid_text_representation then
                network := null;
        end;
        -- IPv4 addresses mapped into IPv6 are rejected, because addresses are compared in their IPv4 form.
        if network is null or network <> network(network)::inet or network <<= '::ffff:0:0/96' then
            raise exception 'address % is not valid: use an address or a network without host bits, as in 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32',
                quote_for_message(item)
                using errcode = 'invalid_parameter_value';
        end if;
        networks := networks || network::cidr;
    end loop;
    return networks;
end;
$$;

comment on function parse_networks(text[]) is 'IPv4 and IPv6 networks, in order; a single address is a network of one. Raises on anything else.';
