-- Names that a project's clients may ask for in place of models.

-- step: locked
lock table projects, setting_kinds in access exclusive mode;

alter table projects add column aliases text[] not null default '{}';
-- It allows all that stands there.
alter table setting_kinds drop constraint setting_kinds_type_check;
alter table setting_kinds add constraint setting_kinds_type_check
    check (type in ('choice', 'number', 'whole', 'text', 'models', 'aliases')) not valid;

comment on column projects.aliases is 'Names that clients may ask for in place of a model: each name=model, or name=model|fallback|… with models that are asked in its stead when it cannot be reached.';
comment on column setting_kinds.type is 'choice: one of words; number; whole: a number without fraction; text; models: names of models with commas between them; aliases: the same, each as name=model|fallback|….';
comment on column usage_records.asked_model is 'The name that was asked for, where it was an alias or a fallback answered.';
