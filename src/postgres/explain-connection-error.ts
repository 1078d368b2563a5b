/** Explains why the first connection failed, and how to fix it. Decides by SQLSTATE or error code, because servers translate messages. */
import { type DatabaseAddress, describeAddress } from './address.ts'
import { sqlStateOf } from './database.ts'
import { TlsUnsupportedError } from './secure-socket.ts'
import { DatabaseSetupError, quoteIdentifier, type SetupProblem } from './setup-problem.ts'

/** Returns a DatabaseSetupError with cause and remedy for a known error; otherwise the error itself. */
export function explainConnectionError(error: unknown, address: DatabaseAddress): unknown {
  if (error instanceof DatabaseSetupError) return error
  const problem = explainTls(error) ?? explainServer(error, address) ?? explainSystem(error, address)
  return problem ? new DatabaseSetupError([problem]) : error
}

function explainTls(error: unknown): SetupProblem | null {
  if (error instanceof TlsUnsupportedError)
    return {
      cause: 'the server does not support TLS, which DATABASE_URL requires',
      remedy: 'Set sslmode=prefer in DATABASE_URL, or run as a superuser, with a certificate in its data directory:',
      commands: ['alter system set ssl = on;', 'select pg_reload_conf();'],
    }
  const code = codeOf(error)
  if (/ALTNAME/.test(code))
    return {
      cause: `the certificate of the server is made out to another name (${messageOf(error)})`,
      remedy:
        'Name the server in DATABASE_URL as its certificate does, or set sslmode=verify-ca to verify its authority alone.',
    }
  if (/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/.test(code))
    return {
      cause: `the certificate of the server is not valid now (${code})`,
      remedy: 'Renew it, or set the clock of this machine.',
    }
  if (/SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|CERT_/.test(code))
    return {
      cause: `the certificate of the server is not signed by an authority that this machine trusts (${code})`,
      remedy:
        'Set DATABASE_CA_FILE to the authority’s certificate, such as DATABASE_CA_FILE=/etc/model-proxy/postgres-ca.crt, or sslmode=require in DATABASE_URL, without channel_binding, to encrypt without verifying.',
    }
  return null
}

function explainServer(error: unknown, address: DatabaseAddress): SetupProblem | null {
  const role = quoteIdentifier(address.user)
  const database = quoteIdentifier(address.database)
  const remedy = 'Run as a superuser:'
  const message = messageOf(error)
  switch (sqlStateOf(error)) {
    case '28P01':
      return {
        cause: `${address.password === '' ? 'DATABASE_URL has no password, and' : 'the password in DATABASE_URL is wrong, or'} there is no such role (${message})`,
        remedy: 'Correct DATABASE_URL, or run as a superuser:',
        commands: [createMissing(role), `alter role ${role} login password 'NEW-PASSWORD';`],
      }
    case '28000':
      return raisedBy(error) === 'InitializeSessionUserId' ? explainRole(message, role) : explainHba(message, address)
    case '3D000':
      return {
        cause: `the server has no database ${database}`,
        remedy: 'Correct DATABASE_URL, or run as a superuser:',
        commands: [`create database ${database} owner ${role} encoding 'UTF8' template template0;`],
      }
    case '42501':
      return {
        cause: `the role ${role} may not connect to the database ${database}`,
        remedy,
        commands: [`grant connect on database ${database} to ${role};`],
      }
    case '55000':
      return {
        cause: `the database ${database} accepts no connections`,
        remedy,
        commands: [`alter database ${database} allow_connections true;`],
      }
    case '53300':
      return explainTooMany(error, role, database)
    case '25006':
      return explainReadOnly(error, role, database)
    case '57P03':
      return {
        cause: `the server accepts no connections yet (${message})`,
        remedy: 'Start the proxy again when the server has started.',
      }
    case '08P01':
      return {
        cause: `the server, or a pooler in front of it, rejected the connection (${message})`,
        remedy:
          'In pgbouncer.ini, add the unknown parameter to ignore_startup_parameters, or correct role and database in DATABASE_URL.',
      }
    default:
      return null
  }
}

function explainReadOnly(error: unknown, role: string, database: string): SetupProblem {
  if (error instanceof Error && 'isStandby' in error && error.isStandby === true)
    return {
      cause: 'the server takes no writes: it is a standby',
      remedy:
        'Name the primary in DATABASE_URL, or all of them, separated by commas; standbys alone belong in DATABASE_STANDBY_URL.',
    }
  return {
    cause: 'the server takes no writes: default_transaction_read_only is on (some hosts set it when the disk is full)',
    remedy: `Run as a superuser in the database ${database}:`,
    commands: [
      'set default_transaction_read_only = off;',
      `alter role ${role} in database ${database} set default_transaction_read_only = off;`,
    ],
  }
}

function explainRole(message: string, role: string): SetupProblem {
  return {
    cause: `the role ${role} does not exist, or may not log in (${message})`,
    remedy: 'Correct DATABASE_URL, or run as a superuser:',
    commands: [createMissing(role), `alter role ${role} login;`],
  }
}

/** Creates the role if it is missing. The server does not reveal to unauthenticated clients whether a role exists. */
function createMissing(role: string): string {
  return `select 'create role ${role.replaceAll("'", "''")}' where to_regrole('${role.replaceAll("'", "''")}') is null \\gexec`
}

function explainHba(message: string, { user, database, tls }: DatabaseAddress): SetupProblem {
  const client = /"([0-9a-fA-F.:]+)"/.exec(message)?.[1]
  const network = client ? `${client}/${client.includes(':') ? 128 : 32}` : 'ADDRESS-OF-THIS-MACHINE/32'
  const tlsAdvice =
    tls === false ? 'If it accepts only encrypted connections, set sslmode=require in DATABASE_URL. Else add' : 'Add'
  return {
    cause: `pg_hba.conf of the server does not let this machine in (${message})`,
    remedy: `${tlsAdvice} a line above the others in the file that \`show hba_file\` names, and run \`select pg_reload_conf()\`:`,
    commands: [`host ${quoteIdentifier(database)} ${quoteIdentifier(user)} ${network} scram-sha-256`],
  }
}

/** Explains too_many_connections. The name of the server function that raised the error tells which limit was reached. */
function explainTooMany(error: unknown, role: string, database: string): SetupProblem {
  const by = raisedBy(error)
  if (by === 'InitializeSessionUserId')
    return {
      cause: `the role ${role} has as many connections as it may`,
      remedy: 'End other proxies, or run as a superuser:',
      commands: [`alter role ${role} connection limit 20;`],
    }
  if (by === 'CheckMyDatabase')
    return {
      cause: `the database ${database} has as many connections as it takes`,
      remedy: 'End other clients, or run as a superuser:',
      commands: [`alter database ${database} connection limit 20;`],
    }
  return {
    cause: 'the server has as many connections as it takes',
    remedy: 'End other clients, use a pooler, or run as a superuser and restart the server:',
    commands: ['alter system set max_connections = 200;'],
  }
}

function explainSystem(error: unknown, address: DatabaseAddress): SetupProblem | null {
  const [first = { host: 'localhost', port: 5432 }] = address.hosts
  const check = `Check it from this machine: pg_isready -h ${first.host} -p ${first.port}`
  const code = codeOf(error)
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return {
        cause: `the name in ${describeAddress(address)} cannot be resolved (${code})`,
        remedy: `Correct it. ${check}`,
      }
    case 'ECONNREFUSED':
    case 'ENOENT':
      return {
        cause: `nothing listens at ${describeAddress(address)} (${code})`,
        remedy: `Start PostgreSQL there, let it listen for other machines (listen_addresses), or correct DATABASE_URL. ${check}`,
      }
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'CONNECT_TIMEOUT':
      return {
        cause: `${describeAddress(address)} does not answer (${code})`,
        remedy: `Allow this machine in its firewall, or raise connect_timeout in DATABASE_URL if the server is slow. ${check}`,
      }
    default:
      return null
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns the server function that raised the error. connection.ts stores it. */
function raisedBy(error: unknown): string {
  return error instanceof Error && 'raisedBy' in error ? String(error.raisedBy) : ''
}
