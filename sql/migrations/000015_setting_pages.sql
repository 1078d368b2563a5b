-- What a page shows of a setting: it needs no list of its own.

-- step: locked
lock table setting_kinds in access exclusive mode;

alter table setting_kinds
    add column place integer not null default 0,
    add column area text not null default '',
    add column title text not null default '',
    add column choices text[] not null default '{}';

comment on column setting_kinds.place is 'The order on a page.';
comment on column setting_kinds.area is 'What else it stands with on a page.';
comment on column setting_kinds.title is 'Its name for people.';
comment on column setting_kinds.choices is 'For each of the words of a choice: a title, a colon, and what it does.';
