package io.idempotency.it.http;

import java.util.UUID;

import io.idempotency.it.client.Client;
import org.apache.catalina.util.ServerInfo;
import org.junit.jupiter.api.BeforeEach;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.core.env.Environment;

/** The application on a real Tomcat; all subclasses share one. */
@SpringBootTest(classes = HttpApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "idempotency.http.max-request-size=64KB", "idempotency.http.max-response-size=64KB",
				"server.tomcat.max-http-form-post-size=10MB" })
abstract class OnTomcat {

	@Autowired
	Environment environment;

	@Autowired
	Runs runs;

	Client client = new Client(0);

	/** A new one for each test. */
	final String key = UUID.randomUUID().toString();

	/** The Tomcat of Boot 4: it refuses forms that it cannot read. */
	static boolean isTomcat11() {
		return ServerInfo.getServerNumber().startsWith("11.");
	}

	@BeforeEach
	void connect() {
		this.client = new Client(Integer.parseInt(this.environment.getRequiredProperty("local.server.port")));
	}

}
