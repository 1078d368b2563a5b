/** The Helm chart, rendered with Helm's own code and read as Kubernetes reads it. The program accepts its settings. */
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/config/config.ts'
import { createTemporaryDirectory } from '../../harness/temporary-directory.ts'
import { engineAt, findEngine } from '../find-engine.ts'

const ROOT = join(import.meta.dirname, '../../..')
const go = Bun.which('go')

/** The fields of an object that these tests read. The Go program validates each object against the full schema of its kind. */
interface Manifest {
  kind: string
  metadata: { labels: Record<string, string>; annotations?: Record<string, string> }
  spec: {
    selector: Record<string, string> & { matchLabels: Record<string, string> }
    ports: { name: string }[]
    jobLabel?: string
    endpoints?: object[]
    template: { metadata: { labels: Record<string, string> }; spec: Pod }
  }
}
interface Pod {
  terminationGracePeriodSeconds: number
  containers: [Container]
  volumes: [{ projected: { sources: { secret: { items: [{ path: string }] } }[] } }]
}
interface Container {
  command: string[]
  image: string
  env: { name: string; value: string }[]
  ports: { name: string; containerPort: number }[]
  volumeMounts: { name: string; mountPath: string }[]
}

describe.skipIf(!go)('the Helm chart', () => {
  const folder = createTemporaryDirectory()
  const program = join(folder, 'chart')

  beforeAll(async () => {
    const building = Bun.spawn([go ?? '', 'build', '-o', program, '.'], { cwd: import.meta.dirname, stderr: 'pipe' })
    if ((await building.exited) !== 0) throw new Error(await new Response(building.stderr).text())
  }, 900_000)

  async function render(values: object = {}): Promise<Manifest[]> {
    const file = join(folder, 'values.json')
    await Bun.write(file, JSON.stringify(values))
    const run = Bun.spawn([program, join(ROOT, 'deploy/chart'), file], { stderr: 'pipe' })
    const [output, errors] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
    if ((await run.exited) !== 0) throw new Error(errors)
    return JSON.parse(output)
  }

  const EVERYTHING = {
    image: { repository: 'registry.example.com/model-proxy', digest: `sha256:${'0'.repeat(64)}` },
    imagePullSecrets: [{ name: 'registry' }],
    ingress: { enabled: true, className: 'nginx', host: 'models.example.com', tlsSecretName: 'models' },
    autoscaling: { enabled: true, metrics: [{ type: 'Pods', pods: POD_METRIC }] },
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
    service: { annotations: { 'example.com/internal': 'true' } },
    podAnnotations: { 'example.com/team': 'search' },
    nodeSelector: { 'kubernetes.io/arch': 'amd64' },
    tolerations: [{ key: 'models', operator: 'Exists' }],
    affinity: { podAntiAffinity: {} },
  }

  test('renders valid manifests, with its defaults and with all values', async () => {
    expect(kinds(await render())).toEqual(['Deployment', 'Job', 'PodDisruptionBudget', 'Service', 'Service'])
    expect(kinds(await render(EVERYTHING))).toEqual([
      'Deployment',
      'HorizontalPodAutoscaler',
      'Ingress',
      'Job',
      'PodDisruptionBudget',
      'Service',
      'Service',
      'ServiceMonitor',
    ])
    expect(kinds(await render({ migration: { enabled: false } }))).not.toContain('Job')
  })

  test('starts the program with valid settings, secrets from files', async () => {
    const { containers, volumes } = pod(await render())
    const [{ env, ports, volumeMounts }] = containers
    const names = volumes[0].projected.sources.map(({ secret }) => secret.items[0].path)
    const mountPath = volumeMounts.find(({ name }) => name === 'secrets')?.mountPath
    const files = env.filter(({ name }) => name.endsWith('_FILE'))
    expect(files).toEqual(names.map(name => ({ name: `${name}_FILE`, value: `${mountPath}/${name}` })))

    for (const name of names) await Bun.write(join(folder, name), SECRETS[name] ?? '')
    const environment = env.map(({ name, value }) => [name, value.replace(mountPath ?? '', folder)])
    const config = readConfig({ ...(await imageSettings()), ...Object.fromEntries(environment) })
    expect(config).toMatchObject({ databaseUrl: SECRETS.DATABASE_URL, redisUrl: SECRETS.REDIS_URL, host: '0.0.0.0' })
    const open = Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort]))
    expect(open).toEqual({ http: config.port, metrics: config.metrics.port })
  })

  test('allows a shutdown its time, whatever its settings', async () => {
    const settings = { SHUTDOWN_DELAY_MS: '9500', SHUTDOWN_TIMEOUT_MS: '120000' }
    expect(pod(await render({ settings })).terminationGracePeriodSeconds).toBeGreaterThanOrEqual(139)
  })

  test('migrates before it replaces, by the same image, files and settings', async () => {
    const manifests = await render(EVERYTHING)
    const job = find(manifests, 'Job')
    const [proxy] = pod(manifests).containers
    const [migrate] = job.spec.template.spec.containers
    expect(job.metadata.annotations?.['helm.sh/hook']).toBe('pre-install,pre-upgrade')
    expect(migrate).toMatchObject({ image: proxy.image, env: proxy.env, volumeMounts: proxy.volumeMounts })
    expect(migrate.command).toEqual(['model-proxy', 'migrate'])
    expect(proxy.image).toBe(`registry.example.com/model-proxy@${EVERYTHING.image.digest}`)
  })

  test('sends requests, scrapes and disruptions to the pods, and none of them to the migration', async () => {
    const manifests = await render(EVERYTHING)
    const { labels } = find(manifests, 'Deployment').spec.template.metadata
    const ofJob = find(manifests, 'Job').spec.template.metadata.labels
    const services = manifests.filter(({ kind }) => kind === 'Service')
    const budget = find(manifests, 'PodDisruptionBudget')
    for (const selector of [...services.map(({ spec }) => spec.selector), budget.spec.selector.matchLabels]) {
      expect(labels).toMatchObject(selector)
      expect(ofJob).not.toMatchObject(selector)
    }
    const scraped = services.filter(({ metadata }) => {
      const wanted = Object.entries(find(manifests, 'ServiceMonitor').spec.selector.matchLabels)
      return wanted.every(([name, value]) => metadata.labels[name] === value)
    })
    expect(scraped.map(({ spec }) => spec.ports.map(({ name }) => name))).toEqual([['metrics']])
  })

  test('renders the values of examples/kubernetes', async () => {
    const file = join(ROOT, 'examples/kubernetes/values.yaml')
    const values = Bun.YAML.parse(await Bun.file(file).text()) as { secrets: Record<string, { key: string }> }
    const manifests = await render(values)
    expect(kinds(manifests)).toEqual([
      'Deployment',
      'HorizontalPodAutoscaler',
      'Ingress',
      'Job',
      'PodDisruptionBudget',
      'Service',
      'Service',
      'ServiceMonitor',
    ])
    // The Secret that the README creates has each key that the values name.
    const readme = await Bun.file(join(ROOT, 'examples/kubernetes/README.md')).text()
    const created = Array.from(readme.matchAll(/--from-literal=([a-z-]+)=/g), ([, key]) => key)
    expect(created.sort()).toEqual(
      Object.values(values.secrets)
        .map(({ key }) => key)
        .sort(),
    )
  })

  test.each(Object.entries(CANNOT_WORK))('rejects values that cannot work: %s', async (path, values) => {
    await expect(render(values)).rejects.toThrow(path.split(' ')[0])
  })

  test.each(CAN_WORK)('accepts values that work: %j', async values => {
    expect(kinds(await render(values))).toContain('Deployment')
  })

  test('a file from a Secret is at the path of its setting', async () => {
    const [{ env }] = pod(await render({ secrets: { REDIS_CA: { name: 'redis-tls', key: 'ca.crt' } } })).containers
    expect(env).toContainEqual({ name: 'REDIS_CA_FILE', value: '/run/secrets/model-proxy/REDIS_CA' })
  })

  /** Returns the job label that the Prometheus Operator derives from the ServiceMonitor: the Service's value of its jobLabel. */
  async function jobName(values: object): Promise<string | undefined> {
    const manifests = await render(values)
    const { jobLabel = '', selector } = find(manifests, 'ServiceMonitor').spec
    const service = manifests.find(
      ({ kind, metadata }) =>
        kind === 'Service' &&
        Object.entries(selector.matchLabels).every(([name, value]) => metadata.labels[name] === value),
    )
    return service?.metadata.labels[jobLabel]
  }

  test.skipIf(findEngine('promtool') === null)('alerts fire with the names of its own monitor', async () => {
    const job = await jobName({ serviceMonitor: { enabled: true } })
    /** The series of the alert that fire at a time, by these labels. */
    const firing = (alertname: string, at: string, labels: Record<string, string>[]) => ({
      expr: `count by (instance, what) (ALERTS{alertname="${alertname}",alertstate="firing"})`,
      eval_time: at,
      exp_samples: labels.map(each => ({
        labels: `{${Object.entries(each).map(([name, value]) => `${name}="${value}"`)}}`,
        value: 1,
      })),
    })
    const up = `up{job="${job}",instance="10.0.0.1:9464"}`
    const failures = (what: string) => `model_proxy_failures_total{job="${job}",what="${what}"}`
    const tests = [
      {
        name: 'one pod of two is gone',
        input_series: [
          { series: up, values: '1x3 0x20' },
          { series: `up{job="${job}",instance="10.0.0.2:9464"}`, values: '1x30' },
        ],
        promql_expr_test: [
          firing('ModelProxyDown', '3m', []),
          firing('ModelProxyDown', '10m', [{ instance: '10.0.0.1:9464' }]),
        ],
      },
      {
        name: 'all are gone',
        input_series: [{ series: up, values: '1x3 _x20' }],
        promql_expr_test: [firing('ModelProxyDown', '3m', []), firing('ModelProxyDown', '15m', [{}])],
      },
      {
        name: 'work fails',
        input_series: [
          { series: up, values: '1x60' },
          { series: failures('record'), values: '0x10 1x50' },
          { series: failures('lookup'), values: '0x60' },
          { series: failures('store'), values: '_x20 3x40' },
        ],
        promql_expr_test: [
          firing('ModelProxyFailures', '10m', []),
          firing('ModelProxyFailures', '12m', [{ what: 'record' }]),
          firing('ModelProxyFailures', '22m', [{ what: 'store' }]),
          firing('ModelProxyFailures', '40m', []),
          firing('ModelProxyDown', '40m', []),
        ],
      },
    ]
    const file = join(folder, 'alerts-test.json')
    const rules = [join(ROOT, 'docs/metrics/alerts.yml')]
    await Bun.write(
      file,
      JSON.stringify({
        rule_files: rules,
        evaluation_interval: '1m',
        tests: tests.map(each => ({ interval: '1m', ...each })),
      }),
    )
    const run = Bun.spawnSync([engineAt('promtool'), 'test', 'rules', file])
    expect(run.stdout.toString() + run.stderr.toString()).toContain('SUCCESS')
  })

  test('the monitor sends the token that the metrics require', async () => {
    const METRICS_TOKEN = { name: 'model-proxy', key: 'metrics-token' }
    const manifests = await render({ serviceMonitor: { enabled: true }, secrets: { METRICS_TOKEN } })
    expect(find(manifests, 'ServiceMonitor').spec.endpoints).toMatchObject([
      { authorization: { credentials: METRICS_TOKEN } },
    ])
  })

  test('rejects a field that Kubernetes does not know', async () => {
    const values = { affinity: { podAntiAfinity: {} } }
    await expect(render(values)).rejects.toThrow('podAntiAfinity')
  })
})

/** Each key begins with the name that the error contains. */
const CANNOT_WORK: Record<string, object> = {
  PORT: { settings: { PORT: '8080' } },
  HOST: { settings: { HOST: '127.0.0.1' } },
  DATA_DIR: { settings: { DATA_DIR: '/var/lib/model-proxy' } },
  DASHBOARD: { settings: { DASHBOARD: '3001' } },
  METRICS_PORT: { settings: { METRICS_PORT: '0' } },
  'METRICS_PORT as PORT': { settings: { METRICS_PORT: '3000' } },
  MAX_BODY_BYTES: { settings: { MAX_BODY_BYTES: 33_554_432 } },
  SHUTDOWN_TIMEOUT_MS: { settings: { SHUTDOWN_TIMEOUT_MS: '30s' } },
  REDIS_CA_FILE: { settings: { REDIS_CA_FILE: '/etc/ca.pem' } },
  DATABASE_URL: { settings: { DATABASE_URL: 'postgres://proxy:secret@postgres/model_proxy' } },
  OPERATOR_COMMAND: { settings: { OPERATOR_COMMAND: 'model-proxy' } },
  'ENCRYPTION_KEY missing': { secrets: { ENCRYPTION_KEY: null } },
  'REDIS_URL without its key': { secrets: { REDIS_URL: { name: 'redis', key: '' } } },
  replicas: { replicas: 0 },
  digest: { image: { digest: 'latest' } },
  maxUnavailable: { podDisruptionBudget: { maxUnavailable: 0 } },
  setings: { setings: { LOG_LEVEL: 'debug' } },
}

const CAN_WORK = [
  { settings: { PORT: '3000', HOST: '0.0.0.0', DASHBOARD: 'off', METRICS_PORT: '9999', MAX_BODY_BYTES: '33554432' } },
  { settings: { OPENAI_BASE_URL: 'https://models.example.com/v1', LOG_LEVEL: 'debug', CORS_ORIGINS: '' } },
  {
    secrets: { METRICS_TOKEN: { name: 'metrics', key: 'token' }, OIDC_CLIENT_SECRET: { name: 'oidc', key: 'secret' } },
  },
  { replicas: 5, podDisruptionBudget: { maxUnavailable: '25%' }, global: { team: 'search' } },
  { image: { digest: `sha256:${'0'.repeat(64)}` }, service: { type: 'LoadBalancer', port: 443 } },
]

const POD_METRIC = {
  metric: { name: 'model_proxy_event_loop_delay_seconds' },
  target: { type: 'AverageValue', averageValue: '50m' },
}

const SECRETS: Record<string, string> = {
  DATABASE_URL: 'postgres://proxy:secret@postgres:5432/model_proxy',
  REDIS_URL: 'redis://:secret@redis:6379',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
}

function kinds(manifests: readonly Manifest[]): string[] {
  return manifests.map(({ kind }) => kind).sort()
}

function find(manifests: readonly Manifest[], kind: string): Manifest {
  const found = manifests.find(manifest => manifest.kind === kind)
  if (!found) throw new Error(`There is no ${kind}.`)
  return found
}

function pod(manifests: readonly Manifest[]): Pod {
  return find(manifests, 'Deployment').spec.template.spec
}

/** Reads the variables that the image of the program alone sets. */
async function imageSettings(): Promise<Record<string, string>> {
  const file = await Bun.file(join(ROOT, 'Dockerfile')).text()
  const program = /^FROM scratch AS program\n(.*?)^FROM /ms.exec(file)?.[1] ?? ''
  return Object.fromEntries(
    [...program.matchAll(/^(?:ENV|) +([A-Z_]+)=(\S+)/gm)].map(([, name, value]) => [name, value]),
  )
}
