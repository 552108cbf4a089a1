package io.idempotency.it.http;

import io.idempotency.it.scenarios.ReleasedScenarios;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;

import static org.awaitility.Awaitility.await;

class ReleasedOnTomcatTests extends OnTomcat implements ReleasedScenarios {

	@Test
	void metricNamesTheExceptionOfTheHandler(@Autowired MeterRegistry meters) {
		this.client.post("/failures/exception", this.key);
		for (String name : new String[] { "idempotency", "http.server.requests" }) {
			await(name).until(() -> meters.find(name).tag("error", "IllegalStateException").timer() != null);
		}
	}

}
