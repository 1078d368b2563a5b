/** Writes the mails of the proxy: a plain text, and the same as simple HTML. */
import type { Mail } from './mailer.ts'

interface MailContent {
  subject: string
  /** Plain text; may contain names that users chose. */
  paragraphs: readonly string[]
  /** The link below them; null if the dashboard's address is unknown. */
  link: { title: string; url: string } | null
  /** Why the recipient gets this mail. */
  footer: string
}

/** Names are escaped, so that they cannot contain a link or other markup. */
export function writeMail({ subject, paragraphs, link, footer }: MailContent): Pick<Mail, 'subject' | 'text' | 'html'> {
  const text = [...paragraphs, ...(link === null ? [] : [`${link.title}: ${link.url}`]), `-- \n${footer}`].join('\n\n')
  const button =
    link === null
      ? ''
      : `<p style="margin:24px 0"><a href="${Bun.escapeHTML(link.url)}" style="background:#18181b;border-radius:8px;color:#ffffff;display:inline-block;font-weight:600;padding:10px 16px;text-decoration:none">${Bun.escapeHTML(link.title)}</a></p>`
  const html = `<!doctype html><html lang="en"><body style="color:#18181b;font-family:system-ui,sans-serif;font-size:15px;line-height:1.5;margin:0 auto;max-width:560px;padding:24px">${paragraphs
    .map(paragraph => `<p style="margin:0 0 12px">${Bun.escapeHTML(paragraph)}</p>`)
    .join(
      '',
    )}${button}<p style="border-top:1px solid #e4e4e7;color:#71717a;font-size:12px;margin:24px 0 0;padding-top:12px">${Bun.escapeHTML(footer)}</p></body></html>`
  return { subject, text: `${text}\n`, html }
}
