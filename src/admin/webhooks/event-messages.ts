/**
 * Writes events for people, with a link to the dashboard's page about them: as incoming webhooks of Slack read them
 * (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks), and as mails.
 */
import { WEBHOOK_EVENT_TYPES } from '../../postgres/seeds.generated.ts'
import type { Mail } from '../mail/mailer.ts'
import { writeMail } from '../mail/write-mail.ts'
import { describeEvent } from './describe-event.ts'

export interface EventOfProject {
  kind: string
  /** The payload in JSON. */
  payload: string
  project_id: number
  /** The project's name. */
  project: string
}

/** Returns the event's sentence, and the URL of its page; null if the dashboard's public origin is unknown. */
function describe({ kind, project_id, project }: EventOfProject, fields: object, dashboardOrigin: string | null) {
  const { sentence, page } = describeEvent(kind, fields, project)
  return { sentence, url: dashboardOrigin && `${dashboardOrigin}/dashboard/proj_${project_id}/${page}` }
}

/** Returns the body for Slack: one sentence, and the link below it. */
export function writeSlackMessage(event: EventOfProject, dashboardOrigin: string | null): string {
  const { sentence, url } = describe(event, JSON.parse(event.payload), dashboardOrigin)
  return JSON.stringify({ text: `${escapeText(sentence)}${url === null ? '' : `\n${url}`}` })
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  // Mattermost and Discord notify everyone who is named after an @, so a zero-width space follows it.
  '@': '@\u200b',
}

/** Escapes text, so that a name cannot contain a link or a mention such as `<!channel>`. */
function escapeText(text: string): string {
  return text.replace(/[&<>@]/g, character => ESCAPES[character] ?? character)
}

const TITLES = new Map<string, string>(WEBHOOK_EVENT_TYPES.map(({ kind, title }) => [kind, title]))

export function writeEventMail(
  event: EventOfProject,
  dashboardOrigin: string | null,
): Pick<Mail, 'subject' | 'text' | 'html'> {
  const { kind, project } = event
  const fields: { state?: unknown } = JSON.parse(event.payload)
  const { sentence, url } = describe(event, fields, dashboardOrigin)
  const title = TITLES.get(kind) ?? kind
  return writeMail({
    subject: `[${project}] ${fields.state === 'recovered' ? `Resolved: ${title}` : title}`,
    paragraphs: [sentence],
    link: url === null ? null : { title: 'Open in the dashboard', url },
    footer: `You receive this because your address is a destination of the alerts of project ${project}. Owners of the project change destinations on the dashboard’s page Alerts.`,
  })
}
