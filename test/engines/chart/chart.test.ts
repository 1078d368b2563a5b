/** The Helm chart, rendered by Helm's own code and read as Kubernetes reads it; what it sets is what the program takes. */
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/config/config.ts'
import { temporaryFolder } from '../../harness/temporary-folder.ts'

const ROOT = join(import.meta.dirname, '../../..')
const go = Bun.which('go')

/** What is read of any object: Go has compared each with the whole of its kind. */
interface Manifest {
  kind: string
  metadata: { labels: Record<string, string>; annotations?: Record<string, string> }
  spec: {
    selector: Record<string, string> & { matchLabels: Record<string, string> }
    ports: { name: string }[]
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
  const folder = temporaryFolder()
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

  test('renders what Kubernetes takes, at its defaults and with all of it', async () => {
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

  test('starts the program with settings that it takes, secrets from files', async () => {
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

  test('gives a shutdown its time, whatever its settings', async () => {
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
    expect(migrate.command.join(' ')).toBe(await script('migrate'))
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

  test('refuses a field that Kubernetes does not know', async () => {
    const values = { affinity: { podAntiAfinity: {} } }
    await expect(render(values)).rejects.toThrow('podAntiAfinity')
  })
})

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

/** What the Dockerfile sets. */
async function imageSettings(): Promise<Record<string, string>> {
  const file = await Bun.file(join(ROOT, 'Dockerfile')).text()
  return Object.fromEntries([...file.matchAll(/^(?:ENV|) +([A-Z_]+)=(\S+)/gm)].map(([, name, value]) => [name, value]))
}

/** A command of package.json. */
async function script(name: string): Promise<string> {
  const { scripts } = await Bun.file(join(ROOT, 'package.json')).json()
  return scripts[name]
}
