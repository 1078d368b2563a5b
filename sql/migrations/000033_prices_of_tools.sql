-- Prices of tools that providers run: searches of files, containers.
-- It allows all that stands there.
alter table model_unit_prices drop constraint model_unit_prices_unit_check;
alter table model_unit_prices add constraint model_unit_prices_unit_check
    check (unit in ('audio_input', 'cached_audio_input', 'audio_output', 'image_input', 'search', 'file_search', 'container', 'request')) not valid;

comment on table model_unit_prices is 'Prices of what an answer counts apart from text. Without a row, tokens cost what text costs, and tools and requests nothing.';
comment on column model_unit_prices.unit is 'audio_input, cached_audio_input, audio_output, image_input: tokens of sound and pictures; search, file_search: searches of the web and of files that the provider runs; container: sessions of its containers, for each GB of their memory; request: requests that were answered.';
comment on column model_unit_prices.usd is 'US dollars: for a million tokens, or for one search, GB of a container or request.';
