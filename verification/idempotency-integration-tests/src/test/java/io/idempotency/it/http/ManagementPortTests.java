package io.idempotency.it.http;

import java.net.http.HttpRequest;
import java.util.UUID;

import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An actuator on a port of its own, which is a child context beside guarded beans. These
 * tests have two servers on the class path, of which Spring Boot 4 takes only one here.
 */
@SpringBootTest(classes = HttpApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "management.server.port=0", "management.endpoints.web.exposure.include=*",
				"idempotency.admin.write-operations=true", "spring.application.name=shop",
				"spring.autoconfigure.exclude=org.springframework.boot.jetty.autoconfigure.actuate.web.server."
						+ "JettyServletManagementContextAutoConfiguration" })
class ManagementPortTests {

	@Value("${local.server.port}")
	int port;

	@Value("${local.management.port}")
	int managementPort;

	@Test
	void applicationIsGuardedAndTheEndpointAnswersOnItsPort() {
		assertThat(this.managementPort).isNotEqualTo(this.port);
		String key = UUID.randomUUID().toString();
		Client client = new Client(this.port);
		Answer first = post(client, key);
		assertThat(first.status()).isEqualTo(200);
		assertThat(post(client, key).text()).isEqualTo(first.text());
		Client management = new Client(this.managementPort);
		String operation = KeysController.class.getName() + ".other%28%29";
		Answer found = management
			.send(management.to("/actuator/idempotency?operation=" + operation + "&key=" + key).GET());
		assertThat(found.status()).as("%s", found).isEqualTo(200);
		assertThat(found.text()).contains("DONE");
	}

	private static Answer post(Client client, String key) {
		return client
			.send(client.to("/keys/other").header("Idempotency-Key", key).POST(HttpRequest.BodyPublishers.noBody()));
	}

}
