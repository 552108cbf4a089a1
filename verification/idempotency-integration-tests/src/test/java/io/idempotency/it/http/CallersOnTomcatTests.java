package io.idempotency.it.http;

import io.idempotency.it.scenarios.CallersScenarios;

class CallersOnTomcatTests extends OnTomcat implements CallersScenarios {

}
