package io.idempotency.it.http;

import io.idempotency.it.scenarios.ReleasedScenarios;

class ReleasedOnTomcatTests extends OnTomcat implements ReleasedScenarios {

}
