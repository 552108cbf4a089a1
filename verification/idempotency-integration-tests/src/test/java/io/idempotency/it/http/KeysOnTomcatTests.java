package io.idempotency.it.http;

import io.idempotency.it.scenarios.KeysScenarios;

class KeysOnTomcatTests extends OnTomcat implements KeysScenarios {

}
