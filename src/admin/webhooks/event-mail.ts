/** Writes events as mails: the sentence that Slack gets, too, and a link to the dashboard's page about it. */
import { WEBHOOK_EVENT_TYPES } from '../../postgres/seeds.generated.ts'
import type { Mail } from '../mail/mailer.ts'
import { writeMail } from '../mail/write-mail.ts'
import { describeEvent } from './describe-event.ts'
import type { EventOfProject } from './slack-message.ts'

const TITLES = new Map<string, string>(WEBHOOK_EVENT_TYPES.map(({ kind, title }) => [kind, title]))

export function writeEventMail(
  { kind, payload, project_id, project }: EventOfProject,
  dashboardOrigin: string | null,
): Pick<Mail, 'subject' | 'text' | 'html'> {
  const fields: { state?: unknown } = JSON.parse(payload)
  const { sentence, page } = describeEvent(kind, fields, project)
  const title = TITLES.get(kind) ?? kind
  return writeMail({
    subject: `[${project}] ${fields.state === 'recovered' ? `Resolved: ${title}` : title}`,
    paragraphs: [sentence],
    link:
      dashboardOrigin === null
        ? null
        : { title: 'Open in the dashboard', url: `${dashboardOrigin}/dashboard/proj_${project_id}/${page}` },
    footer: `You receive this because your address is a destination of the alerts of project ${project}. Owners of the project change destinations on the dashboard’s page Alerts.`,
  })
}
