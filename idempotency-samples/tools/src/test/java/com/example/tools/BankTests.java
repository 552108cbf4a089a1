package com.example.tools;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;

/** What the README says, over HTTP. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class BankTests {

	private static final Pattern BODY = Pattern.compile("(?s)curl localhost:8080/mcp .*?-d '(.*?)'");

	private final HttpClient client = HttpClient.newHttpClient();

	@Value("${local.server.port}")
	private int port;

	@Autowired
	private BankTools tools;

	@Test
	void eachCallOfTheReadmeHasItsEffectOnce() throws Exception {
		List<String> calls = BODY.matcher(Files.readString(Path.of("README.md")))
			.results()
			.map((call) -> call.group(1))
			.toList();
		assertThat(calls).hasSize(3);
		for (String call : calls) {
			int before = this.tools.done().size();
			String first = post(call);
			assertThat(first).contains(", number " + (before + 1)).doesNotContain("io.idempotency/replayed");
			assertThat(post(call)).contains(", number " + (before + 1)).contains("\"io.idempotency/replayed\":true");
			assertThat(this.tools.done()).hasSize(before + 1);
		}
		String other = post(calls.get(0).replace("\"cents\": 500", "\"cents\": 900"));
		assertThat(other).contains("\"code\":\"key-reused\"").contains("\"retry\":\"new-key\"");
		String none = post(calls.get(0).replaceFirst("\"_meta\": \\{.*?\\}", "\"_meta\": {}"));
		assertThat(none).contains("\"code\":\"key-missing\"");
		assertThat(this.tools.done()).hasSize(3);
	}

	private String post(String body) throws IOException, InterruptedException {
		HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + this.port + "/mcp"))
			.header("Content-Type", "application/json")
			.header("Accept", "application/json, text/event-stream")
			.POST(HttpRequest.BodyPublishers.ofString(body))
			.build();
		HttpResponse<String> response = this.client.send(request, HttpResponse.BodyHandlers.ofString());
		assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
		return response.body();
	}

}
