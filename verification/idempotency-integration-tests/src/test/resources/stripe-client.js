// One call of the official client of Stripe: what, base of the API, idempotency key.
// Prints the id of the refund, or the status of the error.
const [what, url, idempotencyKey] = process.argv.slice(2);
const { protocol, hostname, port } = new URL(url);

const stripe = require('stripe')('sk_test', {
	protocol: protocol.replace(':', ''), host: hostname, port, maxNetworkRetries: 1
});

const call = (what === 'cancel')
	? stripe.refunds.cancel('re_1', {}, { idempotencyKey })
	: stripe.refunds.create({}, { idempotencyKey });

// Ends with its line: a connection that is kept alive would keep the process.
const end = (line) => process.stdout.write(String(line), () => process.exit());
// An error whose body has no member 'error' is a refund to this client.
call.then((refund) => end(refund.id ?? refund.lastResponse.statusCode), (error) => end(error.statusCode ?? error));
