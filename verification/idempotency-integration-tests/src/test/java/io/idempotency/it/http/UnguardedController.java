package io.idempotency.it.http;

import io.idempotency.it.scenarios.Runs;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.idempotency.Idempotent;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.ServletResponseWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Controller;
import org.springframework.util.StreamUtils;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;

/** Handlers that are not guarded, and ways from them to some that are. */
@Controller
class UnguardedController {

	private final Runs runs;

	UnguardedController(Runs runs) {
		this.runs = runs;
	}

	/** Tells what of ours is around the request and the response of its handler. */
	@RequestMapping("/unguarded/seen")
	@ResponseBody
	public List<String> seen(HttpServletRequest request, HttpServletResponse response) {
		List<String> seen = new ArrayList<>();
		ServletRequest outer = request;
		while (outer instanceof ServletRequestWrapper wrapper) {
			seen.add(outer.getClass().getName());
			outer = wrapper.getRequest();
		}
		ServletResponse sent = response;
		while (sent instanceof ServletResponseWrapper wrapper) {
			seen.add(sent.getClass().getName());
			sent = wrapper.getResponse();
		}
		return seen.stream().filter((name) -> name.startsWith("io.idempotency")).toList();
	}

	@PostMapping("/unguarded/forward")
	public String forward() {
		return "forward:/unguarded/pay";
	}

	/** The container reads the form for it. */
	@PostMapping("/unguarded/forward-form")
	public String forwardForm(@RequestParam String amount) {
		return "forward:/unguarded/pay-form";
	}

	@PostMapping("/unguarded/servlet-parameters")
	@ResponseBody
	public String parameters(HttpServletRequest request) {
		return RequestsController.parameters(request);
	}

	@PostMapping("/unguarded/pay")
	@Idempotent
	@ResponseBody
	public String pay(@RequestBody(required = false) @Nullable String body) {
		return "paid " + body + " in run " + this.runs.run("/unguarded/pay");
	}

	@PostMapping("/unguarded/pay-form")
	@Idempotent
	@ResponseBody
	public String payForm(@RequestParam String amount) {
		return "paid " + amount + " in run " + this.runs.run("/unguarded/pay-form");
	}

	@PostMapping("/csrf/pay")
	@Idempotent
	@ResponseBody
	public String payWithToken(@RequestParam String amount) {
		return "paid " + amount + " in run " + this.runs.run("/csrf/pay");
	}

	/** A form asks for it by POST. */
	@PutMapping("/unguarded/hidden")
	@Idempotent
	@ResponseBody
	public String hidden(@RequestParam String amount) {
		return "put " + amount + " in run " + this.runs.run("/unguarded/hidden");
	}

	/** Gets another mapping while the application runs. */
	@PostMapping("/unguarded/here/now")
	@Idempotent
	@ResponseBody
	public String later() {
		return "later " + this.runs.run("/unguarded/later");
	}

	@PostMapping("/unguarded/copy")
	public void copy(HttpServletRequest request, HttpServletResponse response) throws IOException {
		StreamUtils.copy(request.getInputStream(), response.getOutputStream());
	}

}
