/** Mails with links to set a password: invitations and password resets. */
import type { Log } from '../../telemetry/log.ts'
import { type Mailer, MailNotSent } from './mailer.ts'
import { writeMail } from './write-mail.ts'

export interface AccountMails {
  /** Returns whether the mail server accepted the mail. */
  sendInvitation(to: string, token: string, invitedBy: string): Promise<boolean>
  sendPasswordReset(to: string, token: string): Promise<boolean>
}

/** Returns null if no mail is sent, or if the dashboard's address, to which the mails link, is unknown. */
export function createAccountMails(
  mailer: Mailer | null,
  dashboardOrigin: string | null,
  log: Pick<Log, 'failures'>,
): AccountMails | null {
  if (mailer === null || dashboardOrigin === null) return null
  const host = new URL(dashboardOrigin).host
  // Not taken from a request: its Host header may be an attacker's. The fragment is not sent to servers, so it is in no access log.
  const linkOf = (token: string) => ({
    title: 'Set a password',
    url: `${dashboardOrigin}/dashboard/invitation#${token}`,
  })

  async function send(to: string, mail: ReturnType<typeof writeMail>): Promise<boolean> {
    try {
      await mailer?.send({ ...mail, to })
      log.failures.recover('mail')
      return true
    } catch (error) {
      log.failures.report('mail', error, 'an invitation or a password reset could not be mailed')
      // A mistyped address is logged, but is no failure of the installation.
      if (error instanceof MailNotSent && error.isRecipientRejected) log.failures.recover('mail')
      return false
    }
  }

  return {
    sendInvitation: (to, token, invitedBy) =>
      send(
        to,
        writeMail({
          subject: 'Your access to Model Proxy',
          paragraphs: [
            `${invitedBy} has given you access to Model Proxy at ${host}. Set a password to log in.`,
            'The link works once and expires in seven days.',
          ],
          link: linkOf(token),
          footer: `You receive this because ${invitedBy} entered your address at ${host}. If you do not expect it, ignore it.`,
        }),
      ),
    sendPasswordReset: (to, token) =>
      send(
        to,
        writeMail({
          subject: 'Reset your password for Model Proxy',
          paragraphs: [
            `Somebody asked to reset the password of your account at ${host}.`,
            'The link works once and expires in an hour. Setting a new password ends all sessions.',
          ],
          link: linkOf(token),
          footer: 'If you did not ask for it, ignore this mail: your password stays as it is.',
        }),
      ),
  }
}
