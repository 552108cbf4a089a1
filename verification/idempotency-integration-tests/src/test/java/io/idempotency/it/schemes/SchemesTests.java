package io.idempotency.it.schemes;

import io.idempotency.it.client.Client;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;

/** Every scheme on Tomcat, with the store of a subclass. */
@SpringBootTest(classes = SchemesApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "idempotency.token.enabled=true")
abstract class SchemesTests extends Schemes {

	@Test
	void tokenOfAMethodIsThatOfTheCurrentRequestsCaller() {
		String path = "/tokens/" + stage().id() + "/method";
		String token = issue(Client.as("alice"));
		Expect.problem(stage().post(path, token, Client.as("bob")), 400, "token-unknown");
		for (int i = 0; i < 2; i++) {
			assertThat(stage().post(path, token, Client.as("alice")).text()).isEqualTo("run 1");
		}
		assertThat(stage().effect().runs()).isEqualTo(1);
	}

}
