/** The Playground: model list, several turns, tools, images, two models, and code that runs. Its key expires with the login. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { startUpstreams } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { chromiumPath, logIn, NO_CHROMIUM, openBrowser } from './open-browser.ts'
import { RUNNERS, runSnippet } from './run-snippet.ts'
import { addAdministrator } from './seed.ts'

const title = chromiumPath ? 'in chromium' : NO_CHROMIUM
/** An image of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const WEATHER = [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }]
const MODELS = ['openai/gpt-4o-mini', 'anthropic/claude-haiku-4.5']

describe.skipIf(!chromiumPath)(title, () => {
  describeOnce('the playground', backend => {
    let browser: Browser
    const upstreams = duringTests(startUpstreams)
    const proxy = duringTests(() =>
      startProxy({ dashboard: true, stores: backend.open(), environment: upstreams.environment }),
    )
    let root: string
    let page: Page
    beforeAll(async () => {
      root = proxy.rootUrl
      await addAdministrator(proxy)
      const [made] = await proxy.query<{ id: number }>(`select create_project('play', 'pro') as id`)
      browser = await openBrowser()
      page = await (await browser.newContext()).newPage()
      await logIn(page, root)
      await page.goto(`${root}/dashboard/proj_${made?.id}/playground`)
      await page.getByRole('button', { name: 'Providers', exact: true }).click()
    })
    afterAll(() => browser?.close())

    const send = async (message: string) => {
      await page.getByLabel('Message').fill(message)
      await page.getByRole('button', { name: 'Send', exact: true }).click()
    }
    const received = () => upstreams.aggregator.requests.map(({ bodyText }) => JSON.parse(bodyText))
    const answers = () => expect.poll(() => page.locator('output').allInnerTexts())

    test('keeps a conversation, with its system prompt, parameters and images, and shows the cache result', async () => {
      upstreams.aggregator.scriptOnce({ kind: 'answer', content: 'Paris.' }, { kind: 'answer', content: 'A dot.' })
      await page.getByLabel('System prompt').fill('Be brief.')
      await page.getByLabel('Temperature').fill('0.2')
      await send('Capital of France?')
      await answers().toEqual(['Paris.'])
      await page.getByText('No cached question is comparable.').waitFor()
      await page.getByLabel('Images').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: PNG })
      await send('And what is this?')
      await answers().toEqual(['Paris.', 'A dot.'])
      expect(await page.evaluate(`document.querySelector('img[alt=Attachment]').naturalWidth`)).toBe(1)
      const url = `data:image/png;base64,${PNG.toString('base64')}`
      const image = [
        { type: 'text', text: 'And what is this?' },
        { type: 'image_url', image_url: { url } },
      ]
      expect(received()).toMatchObject([
        { model: MODELS[0], stream: true, temperature: 0.2 },
        {
          messages: [
            { role: 'system', content: 'Be brief.' },
            { role: 'user', content: 'Capital of France?' },
            { role: 'assistant', content: 'Paris.' },
            { role: 'user', content: image },
          ],
        },
      ])
      await page.getByRole('button', { name: 'Clear conversations' }).click()
      await send('Capital of France?')
      await page.getByText('The response to an identical request is cached.').waitFor()
      await answers().toEqual(['Paris.'])
      expect(received()).toHaveLength(2)
    })

    test.each(Object.keys(RUNNERS))(
      'shows the request as code for %s, which gets the same response',
      async language => {
        const key = await proxy.query<{ key: string }>(`select issue_key('play', 'project', 'for ${language}') as key`)
        const turn = page.locator('ol > li').last()
        if (!(await turn.locator('pre').isVisible())) await turn.getByText('Code', { exact: true }).click()
        await turn.getByRole('button', { name: language, exact: true }).click()
        const snippet = (await turn.locator('pre').textContent()) ?? ''
        const answer = await runSnippet(language, snippet, { OPENAI_API_KEY: key[0]?.key ?? '' })
        expect(answer).toMatch(RUNNERS[language]?.request ? /gpt-4o-mini/ : /Paris/)
        expect(received()).toHaveLength(2)
      },
    )

    test('shows two models side by side, one of which uses a tool', async () => {
      await page.getByRole('button', { name: 'Clear conversations' }).click()
      await page.getByLabel('Tools (JSON)').fill('{}')
      await send('Weather in Vienna?')
      await page.getByText('Tools must be a JSON array').waitFor()
      await page.getByLabel('Tools (JSON)').fill(JSON.stringify(WEATHER))
      await page.getByRole('button', { name: 'Compare with another model' }).click()
      await page
        .getByLabel('Model')
        .nth(1)
        .fill(MODELS[1] ?? '')
      upstreams.aggregator.script(({ bodyText }) => {
        const { model, messages } = JSON.parse(bodyText)
        if (model === MODELS[1]) return { kind: 'answer', content: 'I cannot know.' }
        return messages.at(-1).role === 'tool'
          ? { kind: 'answer', content: 'It rains.' }
          : { kind: 'answer', content: null, toolCalls: [{ name: 'get_weather', arguments: '{"city":"Vienna"}' }] }
      })
      await send('Weather in Vienna?')
      await page.getByLabel('Result of get_weather').fill('rain')
      await page.getByRole('button', { name: 'Send results' }).click()
      await answers().toEqual(['get_weather({"city":"Vienna"})', 'It rains.', 'I cannot know.'])
      expect(received().at(-1)).toMatchObject({
        tools: WEATHER,
        messages: [
          { role: 'system' },
          { role: 'user' },
          { role: 'assistant', tool_calls: [{ function: { name: 'get_weather' } }] },
          { role: 'tool', content: 'rain' },
        ],
      })
      upstreams.aggregator.script({ kind: 'errorInAnswer', afterChunks: 2, shape: 'bare' })
      await send('And tomorrow?')
      await expect.poll(() => page.getByRole('alert').count()).toBe(2)
      upstreams.aggregator.script({ kind: 'hang', after: 'nothing' })
      await send('And the day after?')
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
      upstreams.aggregator.reset()
    })

    test('its key is in no list, and ends with the session', async () => {
      const made = await proxy.query<{ id: number; name: string; active: boolean }>(
        `select id, name, deactivated_at is null as active from api_keys where session_id is not null`,
      )
      expect(made).toMatchObject([
        { name: expect.stringMatching(/^playground of admin@localhost \w{6}$/), active: true },
      ])
      await page.getByRole('link', { name: 'API keys' }).click()
      await page.getByRole('row').filter({ hasText: 'for curl' }).waitFor()
      await page.getByRole('link', { name: 'Limits and budgets' }).click()
      await page.getByText('for curl').first().waitFor()
      expect(await page.getByText('playground of').count()).toBe(0)
      await page.getByRole('button', { name: 'Log out' }).click()
      await page.getByLabel('Password').waitFor()
      const after = await proxy.query(`select from api_keys where session_id is not null and deactivated_at is null`)
      expect(after).toEqual([])
    })
  })
})
