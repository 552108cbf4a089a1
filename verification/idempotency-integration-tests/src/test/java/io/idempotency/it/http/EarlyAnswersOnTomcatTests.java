package io.idempotency.it.http;

import io.idempotency.it.scenarios.EarlyAnswersScenarios;

class EarlyAnswersOnTomcatTests extends OnTomcat implements EarlyAnswersScenarios {

}
