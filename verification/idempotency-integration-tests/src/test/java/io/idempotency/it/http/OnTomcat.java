package io.idempotency.it.http;

import io.idempotency.it.scenarios.Runs;
import java.util.UUID;

import io.idempotency.it.client.Client;
import io.idempotency.it.scenarios.Scenario;
import org.apache.catalina.util.ServerInfo;
import org.junit.jupiter.api.BeforeEach;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.core.env.Environment;

/** The application on a real Tomcat; all subclasses share one. */
@SpringBootTest(classes = HttpApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "idempotency.http.max-request-size=64KB", "idempotency.http.max-response-size=64KB",
				"server.tomcat.max-http-form-post-size=10MB" })
abstract class OnTomcat implements Scenario {

	@Autowired
	Environment environment;

	@Autowired
	Runs runs;

	Client client = new Client(0);

	/** A new one for each test. */
	final String key = UUID.randomUUID().toString();

	/** The Tomcat of Boot 4: it rejects forms that it cannot read. */
	static boolean isTomcat11() {
		return ServerInfo.getServerNumber().startsWith("11.");
	}

	@Override
	public Client client() {
		return this.client;
	}

	@Override
	public Runs runs() {
		return this.runs;
	}

	@Override
	public String key() {
		return this.key;
	}

	@BeforeEach
	void connect() {
		this.client = new Client(Integer.parseInt(this.environment.getRequiredProperty("local.server.port")));
	}

}
