package io.idempotency.it.http;

import io.idempotency.it.scenarios.Runs;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.HttpEntity;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RequestPart;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartFile;

/** Handlers that read the request in every way there is, and say what they got. */
@RestController
@RequestMapping("/requests")
@Idempotent
class RequestsController {

	private final Runs runs;

	RequestsController(Runs runs) {
		this.runs = runs;
	}

	@PostMapping("/json")
	public Map<String, Object> json(@RequestBody Map<String, Object> body) {
		this.runs.run("/requests/json");
		return body;
	}

	@PostMapping("/text")
	public String text(@RequestBody(required = false) String body) {
		this.runs.run("/requests/text");
		return "got " + body;
	}

	@PostMapping("/bytes")
	public byte[] bytes(@RequestBody byte[] body) {
		this.runs.run("/requests/bytes");
		return body;
	}

	@PostMapping("/entity")
	public String entity(HttpEntity<String> entity) {
		this.runs.run("/requests/entity");
		return "got " + entity.getBody();
	}

	@PostMapping("/input-stream")
	public String inputStream(InputStream body) throws IOException {
		this.runs.run("/requests/input-stream");
		return "got " + new String(body.readAllBytes(), StandardCharsets.UTF_8);
	}

	@PostMapping("/servlet-request")
	public String servletRequest(HttpServletRequest request) throws IOException {
		this.runs.run("/requests/servlet-request");
		return "got " + new String(request.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
	}

	@PostMapping("/servlet-parameters")
	public String servletParameters(HttpServletRequest request) {
		this.runs.run("/requests/servlet-parameters");
		return parameters(request);
	}

	static String parameters(HttpServletRequest request) {
		StringBuilder parameters = new StringBuilder();
		new TreeMap<>(request.getParameterMap())
			.forEach((name, values) -> parameters.append(name).append('=').append(List.of(values)).append(' '));
		return parameters.toString();
	}

	@PostMapping("/form")
	public String form(@RequestParam String sku, @RequestParam(required = false) List<String> tag) {
		this.runs.run("/requests/form");
		return sku + " " + tag;
	}

	@PostMapping("/optional-form")
	public String optionalForm(@RequestParam(required = false) String sku) {
		this.runs.run("/requests/optional-form");
		return "sku " + sku;
	}

	@PostMapping("/form-map")
	public String formMap(@RequestBody MultiValueMap<String, String> form) {
		this.runs.run("/requests/form-map");
		return new TreeMap<>(form.toSingleValueMap()).toString();
	}

	@PostMapping("/multipart")
	public String multipart(@RequestParam String sku, @RequestPart MultipartFile file) throws IOException {
		this.runs.run("/requests/multipart");
		return sku + " " + file.getOriginalFilename() + " " + Arrays.toString(file.getBytes());
	}

	@PostMapping("/file-names")
	public String fileNames(@RequestPart List<MultipartFile> files) {
		this.runs.run("/requests/file-names");
		return files.stream().map(MultipartFile::getOriginalFilename).toList().toString();
	}

	@PostMapping("/query")
	public String query(@RequestParam String a, @RequestParam(required = false) String b) {
		this.runs.run("/requests/query");
		return a + b;
	}

}
