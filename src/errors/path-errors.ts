/** The catalogue's errors of an unknown path, model or object. */
import type { CatalogueEntry } from './catalogue-entry.ts'

export const PATH_ERRORS = {
  endpointElsewhere: {
    status: 404,
    code: 'not_found',
    when: 'The path is an endpoint of OpenAI’s or Anthropic’s that the proxy does not have.',
    message: 'This proxy has no /v1/{endpoint}: it belongs to {api}. {advice}',
  },
  pathUnknown: {
    status: 404,
    code: 'not_found',
    when: 'There is nothing at the path.',
    message:
      'There is nothing at this path. Requests go to /v1/chat/completions, /v1/responses, /v1/messages, /v1/completions, /v1/embeddings, /v1/images/…, /v1/audio/…, /v1/moderations, /v1/rerank, /v1/files, /v1/batches, /v1/models or /v1/health: set your client’s base address to end in /v1.',
  },
  methodNotAllowed: {
    status: 405,
    code: 'method_not_allowed',
    when: 'The path is right and the method is not.',
    message: 'This path takes {methods} alone.',
    headers: { allow: '{allowed}' },
  },
  modelUnknown: {
    status: 404,
    code: 'model_not_found',
    when: 'No way leads to a model of this name.',
    message:
      'Model {model} is not known. GET /v1/models lists what this key can use; any model of the aggregator is named <vendor>/<model>, for example openai/gpt-4o-mini.',
    param: 'model',
  },
  modelMisspelt: {
    status: 404,
    code: 'model_not_found',
    when: 'No way leads to a model of this name, and the key can use models of similar names.',
    message:
      'Model {model} is not known. Near to it: {near}. GET /v1/models lists what this key can use; any model of the aggregator is named <vendor>/<model>, for example openai/gpt-4o-mini.',
    param: 'model',
  },
  modelNeedsKey: {
    status: 404,
    code: 'model_not_found',
    when: 'The name is a provider’s own, or looks so, the project has stored no key for that provider, and no aggregator has the model.',
    message:
      'Model {model} is a native name of {providers}, for which this project has stored no key. Store one, or {alternative}.',
    param: 'model',
  },
  providerKeyRemoved: {
    status: 404,
    code: 'model_not_found',
    when: 'The project’s key for the provider was removed while the request was on its way.',
    message: "The project's {provider} key has just been removed.",
    param: 'model',
  },
  modelNotListed: {
    status: 404,
    code: 'model_not_found',
    when: '`GET /v1/models/<name>` asks for a model that the catalogue does not have.',
    message: 'Model {model} is not in the catalogue. GET /v1/models lists what this key can use.',
    param: 'model',
  },
  modelNotAllowed: {
    status: 403,
    code: 'model_not_allowed',
    when: 'The project’s setting `allowed_models` does not have the model.',
    message:
      'Model {model} is not allowed in this project: its setting allowed_models is {patterns}. GET /v1/models lists what this key can use.',
    param: 'model',
  },
  endpointUnsupported: {
    status: 404,
    code: 'unsupported_endpoint',
    when: 'The model’s provider does not have the endpoint.',
    message: "{vendor}'s models answer /v1/chat/completions, /v1/responses and /v1/messages, not /v1/{endpoint}.",
    param: 'model',
  },
  pathUnsupported: {
    status: 404,
    code: 'unsupported_endpoint',
    when: 'What is passed on as it comes is asked of a provider that does not have it.',
    message:
      '{vendor} has no /v1{path} here: name a model of another provider, whose key the project has stored or that the aggregator reaches.',
    param: 'model',
  },
  fileUnknown: {
    status: 404,
    code: 'not_found',
    when: 'The project has made no such file.',
    message: 'No such File object: {id}',
    param: 'id',
  },
  fileNotOwn: {
    status: 404,
    code: 'not_found',
    when: 'A request names a file that another project made; or, under a key that projects share, one that its own project has not made.',
    message:
      'No such File object: {param} names a file that this project has not made. Upload it to POST /v1/files of this proxy, with a key of this project.',
    param: '{param}',
  },
  notBound: {
    status: 400,
    code: 'invalid_request_error',
    when: 'A request names what only its provider knows (an earlier response, a vector store, a container), under a key that projects share.',
    message:
      '{param} names what a provider keeps under a key that projects share, and nobody could tell whose it is: send the whole conversation and its files, or have this project store a provider key of its own.',
    param: '{param}',
  },
  batchUnknown: {
    status: 404,
    code: 'not_found',
    when: 'The project has made no such batch.',
    message: "No batch found with id '{id}'.",
    param: 'id',
  },
  keeperGone: {
    status: 404,
    code: 'model_not_found',
    when: 'A file or batch was made with a provider key that the project has taken away since.',
    message: "It is kept under the project's {provider} key, which is no longer stored.",
    param: 'model',
  },
  responseNotKept: {
    status: 404,
    code: 'not_found',
    when: '`/v1/responses/<id>` is asked for, and the project has no OpenAI key under which a response could be kept.',
    message:
      "Response with id '{id}' not found: only OpenAI keeps responses, for projects that have stored a key of theirs.",
    param: 'response_id',
  },
  hitUnknown: {
    status: 404,
    code: 'request_not_found',
    when: 'Feedback speaks of a request that is no semantic hit of this project’s, or one of more than a week ago.',
    message:
      'No semantic hit of the last week was served to this project under this request_id: give the X-Request-Id of an answer with X-Proxy-Cache: HIT-SEMANTIC.',
    param: 'request_id',
  },
  hitForgotten: {
    status: 404,
    code: 'entry_not_found',
    when: 'Feedback speaks of a cache entry that has expired or was purged.',
    message: 'The cache entry that was served under this request_id is no longer kept, and will not be served again.',
    param: 'request_id',
  },
  exchangeUnknown: {
    status: 404,
    code: 'equivalence_not_found',
    when: 'An exchange of words is to be taken off the list of those that a project has learned, and is not on it.',
    message: 'This project has learned no exchange of these two texts: an empty body lists those that it has.',
    param: 'remove',
  },
} as const satisfies Record<string, CatalogueEntry>
