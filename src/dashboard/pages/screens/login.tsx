/** The login form, and the layout that it shares with the invitation page. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { sendRequest } from '../api.ts'
import { Button, ErrorMessage } from '../components/elements.tsx'
import { Form, type FormField, PASSWORD_FIELD } from '../components/form.tsx'
import type { LoginOptions } from '../types.ts'

export function LoginLayout({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Model Proxy`
  }, [title])
  return (
    <main className="grid min-h-dvh place-items-center px-4 py-10">
      <div className="w-full max-w-sm">
        <p className="mb-6 flex items-center gap-2.5 text-base font-semibold">
          <Logo /> Model Proxy
        </p>
        <div className="rounded-xl border border-line bg-surface p-6 shadow-sm">
          <h1 className="mb-4 text-lg font-semibold">{title}</h1>
          {children}
        </div>
      </div>
    </main>
  )
}

export function Logo() {
  return (
    <svg viewBox="0 0 32 32" className="size-7 shrink-0" aria-hidden="true">
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <path
        d="M8 11h11a4 4 0 0 1 0 8H9m0 0 4-4m-4 4 4 4"
        className="stroke-surface"
        fill="none"
        strokeWidth="2.6"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  )
}

/** Messages for the error codes that a failed login with the OpenID provider puts in the URL. */
const LOGIN_ERRORS: Record<string, string> = {
  unverified: 'Your identity provider has not verified your e-mail address. Verify it there, then try again.',
  outside: 'Your account at the identity provider is not allowed to log in here. Ask an administrator.',
  refused: 'Your identity provider did not confirm the login. Try again.',
  expired: 'The login took too long, or was started in another browser. Try again.',
  throttled: 'Too many login attempts from your address. Try again in 15 minutes.',
  unreachable: 'Your login provider cannot be reached. Try again, or log in with your password.',
}

function useLoginOptions() {
  return useQuery<LoginOptions>({
    queryKey: ['/dashboard/api/login-options'],
    staleTime: Number.POSITIVE_INFINITY,
  })
}

function ProviderLogin() {
  const options = useLoginOptions()
  const outcome = new URLSearchParams(window.location.search).get('login')
  const message = outcome === null ? undefined : LOGIN_ERRORS[outcome]
  const issuer = options.data?.oidc?.issuer
  if (!issuer) return null
  return (
    <div className="mt-4 space-y-3 border-t border-line pt-4">
      {message && <ErrorMessage error={new Error(message)} />}
      <a
        href="/dashboard/api/oidc"
        className="flex min-h-9 w-full items-center justify-center rounded-lg border border-line px-3 py-1.5 font-medium hover:bg-sunken"
      >
        Log in with {new URL(issuer).hostname}
      </a>
    </div>
  )
}

const EMAIL: FormField = {
  name: 'email',
  label: 'E-mail address',
  type: 'text',
  inputMode: 'email',
  autoComplete: 'username',
}

/** Mails a link to set a new password. The message is the same whether the address is known or not. */
function PasswordResetForm({ onClose }: { onClose(): void }) {
  const requesting = useMutation({
    mutationFn: (body: unknown) => sendRequest('POST', '/dashboard/api/password-reset', body),
  })
  return (
    <LoginLayout title="Reset your password">
      {requesting.isSuccess ? (
        <p role="status">
          If an account with a password has this address, a link to set a new one is on its way. It works once and
          expires in an hour.
        </p>
      ) : (
        <Form text="We mail you a link to set a new password." fields={[EMAIL]} sending={requesting}>
          <Button type="submit" look="primary" className="w-full" disabled={requesting.isPending}>
            Send link
          </Button>
        </Form>
      )}
      <Button look="quiet" className="mt-3 w-full" onClick={onClose}>
        Back to login
      </Button>
    </LoginLayout>
  )
}

/** `endedSessionOf` is the e-mail address of the user whose session ended while a page was open. */
export function LoginForm({ endedSessionOf }: { endedSessionOf?: string }) {
  const queries = useQueryClient()
  const canResetPassword = useLoginOptions().data?.password_reset ?? false
  const [isResetting, setResetting] = useState(false)
  const login = useMutation({
    mutationFn: (credentials: unknown) => sendRequest('POST', '/dashboard/api/login', credentials),
    onSuccess: () => (endedSessionOf === undefined ? queries.resetQueries() : queries.invalidateQueries()),
  })
  if (isResetting) return <PasswordResetForm onClose={() => setResetting(false)} />
  return (
    <LoginLayout title="Log in">
      {endedSessionOf !== undefined && (
        <p role="status" className="mb-4 text-muted">
          Your session has ended. Log in again to continue where you left off.
        </p>
      )}
      <Form fields={[{ ...EMAIL, initial: endedSessionOf }, PASSWORD_FIELD]} sending={login}>
        <Button type="submit" look="primary" className="w-full" disabled={login.isPending}>
          {login.isPending ? 'Logging in…' : 'Log in'}
        </Button>
      </Form>
      {canResetPassword && (
        <Button look="quiet" className="mt-2 w-full" onClick={() => setResetting(true)}>
          Forgot password?
        </Button>
      )}
      <ProviderLogin />
      {!canResetPassword && (
        <p className="mt-5 border-t border-line pt-4 text-xs text-muted">
          Forgot your password? Ask an administrator to reset it.
        </p>
      )}
    </LoginLayout>
  )
}
