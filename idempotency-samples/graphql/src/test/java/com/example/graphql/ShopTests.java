package com.example.graphql;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;

/** What the README says, over HTTP. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class ShopTests {

	private static final Pattern BODY = Pattern.compile("(?s)curl localhost:8080(/\\S+).*?-d '(.*?)'");

	private final HttpClient client = HttpClient.newHttpClient();

	@Value("${local.server.port}")
	private int port;

	@Autowired
	private ShopController shop;

	@Test
	void eachRequestOfTheReadmeHasItsEffectOnce() throws Exception {
		Matcher request = BODY.matcher(Files.readString(Path.of("README.md")));
		int requests = 0;
		while (request.find()) {
			String key = UUID.randomUUID().toString();
			String first = post(request.group(1), request.group(2), key);
			int effects = effects();
			assertThat(first).as(request.group()).contains("\"data\"").doesNotContain("errors");
			assertThat(post(request.group(1), request.group(2), key)).isEqualTo(first);
			assertThat(effects()).isEqualTo(effects);
			requests++;
		}
		assertThat(requests).isEqualTo(4);
		assertThat(this.shop.items()).extracting(ShopController.Item::sku)
			.filteredOn((sku) -> !sku.equals("fig"))
			.containsExactly("apple", "apple", "pear", "plum", "plum");
		assertThat(this.shop.payments()).hasSize(1);
	}

	@Test
	void otherArgumentsUnderTheSameKeyAreRejected() throws Exception {
		String key = UUID.randomUUID().toString();
		String document = "{\"query\": \"mutation { addItem(sku: \\\"%s\\\") { sku } }\"}";
		post("/graphql", document.formatted("fig"), key);
		assertThat(post("/graphql", document.formatted("date"), key)).contains("\"code\":\"key-reused\"")
			.contains("\"retry\":\"new-key\"");
		assertThat(this.shop.items()).noneMatch((item) -> item.sku().equals("date"));
	}

	private int effects() {
		return this.shop.items().size() + this.shop.payments().size();
	}

	private String post(String path, String body, String key) throws IOException, InterruptedException {
		HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + this.port + path))
			.header("Content-Type", "application/json")
			.header("Idempotency-Key", key)
			.POST(HttpRequest.BodyPublishers.ofString(body))
			.build();
		HttpResponse<String> response = this.client.send(request, HttpResponse.BodyHandlers.ofString());
		assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
		return response.body();
	}

}
