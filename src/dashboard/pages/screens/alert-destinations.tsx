/** The actions on the destinations of alerts: add, edit, send a test, delete. */
import type { Action } from '../components/actions.tsx'
import type { FormField } from '../components/form.tsx'
import { isolateDirection } from '../format.ts'
import type { ViewRow } from '../types.ts'
import { EventPicker, readSelection, writeSelection } from './alert-events.tsx'

export type Destination = ViewRow<'project_webhooks'>
type Format = Destination['format']

const MAILTO = 'mailto:'
export const FORMAT_TITLES: Readonly<Record<Format, string>> = {
  email: 'E-mail',
  slack: 'Slack',
  standard: 'Webhook',
}

/** The address as people write it. */
function addressOf({ url }: Pick<Destination, 'url'>): string {
  return url.startsWith(MAILTO) ? url.slice(MAILTO.length) : url
}

/** The number of characters by which two webhooks of Slack are told apart. */
const SHOWN_OF_SECRET = 6

/** The address, or only the ends of one that is a secret. */
export function nameOf(destination: Destination): string {
  const address = addressOf(destination)
  if (destination.format !== 'slack' || !URL.canParse(address)) return address
  const { host, pathname } = new URL(address)
  return `${host}/…${address.endsWith('/…') ? '' : pathname.slice(-SHOWN_OF_SECRET)}`
}

const ADDRESS_FIELDS: Readonly<Record<Format, FormField>> = {
  email: {
    name: 'email',
    label: 'E-mail address',
    type: 'email',
    inputMode: 'email',
    placeholder: 'team@example.com',
    hint: 'A person or a mailing list.',
    read: text => `${MAILTO}${text.trim()}`,
  },
  slack: {
    name: 'slack',
    label: 'URL of the incoming webhook',
    type: 'url',
    placeholder: 'https://hooks.slack.com/services/…',
    hint: 'From Slack. Mattermost and Google Chat accept the same messages, and Discord with /slack after its URL.',
    read: text => text.trim(),
  },
  standard: {
    name: 'standard',
    label: 'URL',
    type: 'url',
    placeholder: 'https://example.com/events',
    hint: 'Receives events by POST, signed as Standard Webhooks specifies.',
    read: text => text.trim(),
  },
}
const EVENTS_FIELD: FormField = {
  name: 'events',
  label: 'Events',
  initial: writeSelection([]),
  read: readSelection,
  control: state => <EventPicker {...state} />,
}

/** Turns the address field of the format into the field of the API. */
function toBody({ format, email, slack, standard, events }: Record<string, unknown>) {
  return { ...(format !== undefined && { format }), url: email ?? slack ?? standard, events }
}

export function createAddAction(canSendMail: boolean): Action<null> {
  const formats: readonly Format[] = canSendMail ? ['email', 'slack', 'standard'] : ['slack', 'standard']
  return {
    title: 'Add destination',
    requiredRole: 'owner',
    confirmation: () => ({
      toBody,
      fields: [
        { name: 'format', label: 'Send by', choices: formats.map(format => [format, FORMAT_TITLES[format]] as const) },
        ...formats.map(
          format => ({ ...ADDRESS_FIELDS[format], isShown: values => values.format === format }) as FormField,
        ),
        EVENTS_FIELD,
      ],
    }),
    // Slack and mails have no signature to verify.
    showOnce: ({ secret, format }: { secret: string; format: Format }) =>
      format === 'standard'
        ? {
            title: 'Signing secret',
            notice: 'Copy this secret now. The receiver needs it to verify signatures. It is shown only once.',
            value: secret,
            copy: 'Copy secret',
          }
        : null,
  }
}

export const EDIT_DESTINATION: Action<Destination> = {
  title: 'Edit',
  look: 'plain',
  requiredRole: 'owner',
  confirmation: destination => ({
    title: `Edit ${FORMAT_TITLES[destination.format]} destination`,
    action: 'Save',
    toBody,
    fields: [
      { ...ADDRESS_FIELDS[destination.format], initial: addressOf(destination) },
      { ...EVENTS_FIELD, initial: writeSelection(destination.events) },
    ],
  }),
}

export const SEND_TEST: Action<Destination> = {
  title: 'Send test',
  label: 'Send test to',
  look: 'plain',
  requiredRole: 'member',
  path: '/test',
}

export const DELETE_DESTINATION: Action<Destination> = {
  title: 'Delete',
  requiredRole: 'owner',
  method: 'DELETE',
  confirmation: destination => ({
    title: 'Delete this destination?',
    action: 'Delete destination',
    text: (
      <>
        <span className="break-all">{isolateDirection(nameOf(destination))}</span> receives no more events. Its delivery
        history is deleted.
      </>
    ),
  }),
}
