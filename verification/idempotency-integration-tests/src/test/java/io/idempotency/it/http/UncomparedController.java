package io.idempotency.it.http;

import io.idempotency.it.scenarios.Runs;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;

import io.idempotency.FailureMode;
import io.idempotency.Idempotent;
import io.idempotency.IdempotencyMode;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.util.WebUtils;

/**
 * Handlers whose guard does not compare the body, so that they are the first to read it;
 * and one that is answered behind the back of its guard.
 */
@RestController
@RequestMapping("/uncompared")
class UncomparedController {

	private final Runs runs;

	UncomparedController(Runs runs) {
		this.runs = runs;
	}

	@PostMapping("/stream")
	@Idempotent(fingerprint = "none")
	public String stream(InputStream body) throws IOException {
		return read("/uncompared/stream", body);
	}

	@PostMapping("/by-target")
	@Idempotent(fingerprint = "target")
	public String byTarget(InputStream body) throws IOException {
		return read("/uncompared/by-target", body);
	}

	@PostMapping("/reject")
	@Idempotent(mode = IdempotencyMode.REJECT)
	public String reject(InputStream body) throws IOException {
		return read("/uncompared/reject", body);
	}

	@PostMapping("/lock")
	@Idempotent(mode = IdempotencyMode.LOCK)
	public String lock(InputStream body) throws IOException {
		return read("/uncompared/lock", body);
	}

	@PostMapping("/remember")
	@Idempotent(fingerprint = "none", onFailure = FailureMode.REMEMBER)
	public String remember(InputStream body) throws IOException {
		return read("/uncompared/remember", body);
	}

	@PostMapping("/callable")
	@Idempotent(fingerprint = "none")
	public Callable<String> callable(InputStream body) {
		return () -> read("/uncompared/callable", body);
	}

	@PostMapping("/parameter")
	@Idempotent(fingerprint = "none")
	public String parameter(HttpServletRequest request) {
		this.runs.run("/uncompared/parameter");
		return "got " + request.getParameter("sku") + request.getParameter("tag");
	}

	/** Goes on with what there is, as a handler may do. */
	@PostMapping("/swallowed")
	@Idempotent(fingerprint = "none")
	public String swallowed(InputStream body) {
		try {
			return read("/uncompared/swallowed", body);
		}
		catch (IOException ex) {
			return "got a part";
		}
	}

	@PostMapping("/behind")
	@Idempotent(fingerprint = "none")
	public void behind(HttpServletRequest request, HttpServletResponse response) throws IOException {
		HttpServletResponse container = response;
		for (HttpServletResponse next = response; next != null; next = inner(next)) {
			container = next;
		}
		this.runs.run("/uncompared/behind");
		if ("error".equals(request.getParameter("by"))) {
			container.sendError(409);
		}
		else {
			container.setStatus(413);
		}
	}

	private static HttpServletResponse inner(HttpServletResponse response) {
		return (response instanceof jakarta.servlet.http.HttpServletResponseWrapper wrapper)
				? WebUtils.getNativeResponse(wrapper.getResponse(), HttpServletResponse.class) : null;
	}

	private String read(String path, InputStream body) throws IOException {
		this.runs.run(path);
		return "got " + new String(body.readAllBytes(), StandardCharsets.UTF_8);
	}

}
