'use strict'
// Opens files with speedscope's own importer, in the page that its npm package ships, and prints what it made of each:
// the document that it would save, a line each.
const { JSDOM, VirtualConsole } = require('jsdom')
const fs = require('fs')
const path = require('path')

const release = path.dirname(require.resolve('speedscope/dist/release/index.html'))
const bundle = fs.readdirSync(release).find((name) => /^speedscope-.*\.js$/.test(name))

// Nothing is drawn here: whatever is asked of a canvas is answered by a thing that answers anything.
const anything = new Proxy(function () {}, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => 0 : name === 'then' ? undefined : anything),
  apply: () => anything,
  construct: () => anything,
  set: () => true,
})

function open(file) {
  return new Promise((resolve, reject) => {
    const page = new VirtualConsole()
    const fail = (what) => reject(new Error(`${file}: ${what}`))
    const dom = new JSDOM('<!DOCTYPE html><html><head></head><body></body></html>', {
      url: 'http://localhost/#localProfilePath=/nothing.js',
      runScripts: 'outside-only',
      pretendToBeVisual: true,
      virtualConsole: page,
    })
    const window = dom.window
    page.on('log', (...words) => /^Failed/.test(words[0]) && fail(words.join(' ')))
    window.alert = fail
    window.TextDecoder = TextDecoder
    window.TextEncoder = TextEncoder
    window.matchMedia = () => ({ matches: false, addListener() {}, removeListener() {}, addEventListener() {} })
    window.HTMLCanvasElement.prototype.getContext = () => anything
    window.HTMLAnchorElement.prototype.click = () => {}
    window.Element.prototype.scrollIntoView = () => {}
    window.URL.createObjectURL = (blob) => {
      const reader = new window.FileReader()
      reader.onload = () => resolve(JSON.parse(reader.result))
      reader.readAsText(blob)
      return 'blob:saved'
    }
    window.eval(fs.readFileSync(path.join(release, bundle), 'utf8'))
    const data = fs.readFileSync(file).toString('base64')
    const until = (ready, then) => (ready() ? then() : setTimeout(until, 20, ready, then))
    until(
      () => window.speedscope,
      () => {
        window.speedscope.loadFileFromBase64(path.basename(file), data)
        // The title is set when the import is done; saving writes out what was understood.
        until(
          () => window.document.title.endsWith('speedscope') && window.document.title !== 'speedscope',
          () => setInterval(() => window.dispatchEvent(new window.KeyboardEvent('keydown', { key: 's', ctrlKey: true })), 50),
        )
      },
    )
  })
}

async function main() {
  for (const file of process.argv.slice(2)) console.log(JSON.stringify(await open(file)))
}

function end(error) {
  if (error) console.error(String(error.message || error).slice(0, 500))
  process.exit(error ? 1 : 0)
}

process.on('uncaughtException', end)
main().then(() => end(), end)
