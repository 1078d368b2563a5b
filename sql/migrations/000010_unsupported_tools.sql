-- step: locked
lock table projects in access exclusive mode;

alter table projects add column unsupported_tools text not null default 'drop';

comment on column projects.unsupported_tools is 'What becomes of a tool that the model''s provider would have to run and cannot, where the model may choose: drop leaves it out, refuse answers 400.';
