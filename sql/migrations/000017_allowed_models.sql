-- A project may narrow which models its keys can ask for.

alter table projects add column allowed_models text[]
    constraint projects_allowed_models_few check (cardinality(allowed_models) between 1 and 100);

comment on column projects.allowed_models is 'Patterns of the model names that clients may ask for, * standing for any characters; null: any. Fallbacks and the judge''s model are the project''s own choice.';

alter table kept_objects add column models text[];

comment on column kept_objects.models is 'Of a batch''s input, the models that it asks for; null: not looked at, as the project allowed any when it was made.';
