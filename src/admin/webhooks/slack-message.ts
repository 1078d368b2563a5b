/** Writes events as incoming webhooks of Slack read them (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks). */
import { describeEvent } from './describe-event.ts'

export interface EventOfProject {
  kind: string
  /** The payload in JSON. */
  payload: string
  project_id: number
  /** The project's name. */
  project: string
}

/** Returns the body: one sentence, and below it a link to the dashboard's page, if the dashboard's public origin is known. */
export function writeSlackMessage(
  { kind, payload, project_id, project }: EventOfProject,
  dashboardOrigin: string | null,
): string {
  const { sentence, page } = describeEvent(kind, JSON.parse(payload), project)
  const link = dashboardOrigin === null ? '' : `\n${dashboardOrigin}/dashboard/proj_${project_id}/${page}`
  return JSON.stringify({ text: `${escapeText(sentence)}${link}` })
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
