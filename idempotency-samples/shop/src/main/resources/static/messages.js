/** What brokers delivered, and what came of it. Text only ever enters as text. */

import { get, pause } from "./calls.js";
import { element } from "./log.js";

const PATIENCE = 60;

const $ = (id) => document.getElementById(id);

/** Whether the shop has a broker; until it has said so, it may have one. */
let brokers = null;

/** Shows the newest messages, where there is a broker. */
export async function showMessages() {
	if (brokers?.length === 0) {
		return [];
	}
	const report = await get("/api/messages").catch((error) => {
		if (error.status === 404) {
			return { brokers: [], messages: [] }; // messages are optional
		}
		throw error;
	});
	brokers = report.brokers;
	$("messages").hidden = brokers.length === 0;
	$("messages-broker").textContent = brokers.join(" and ");
	$("messages-empty").hidden = report.messages.length > 0;
	$("deliveries").hidden = report.messages.length === 0;
	$("deliveries").replaceChildren(...report.messages.map(row));
	return report.messages;
}

/** Waits until each broker has delivered the message of an order so many times, and gives what became of it. */
export async function delivered(orderNo, times) {
	let found = null;
	for (let tries = 0; tries < PATIENCE && !(found?.delivered >= times * brokers.length); tries++) {
		await pause(250);
		found = (await showMessages()).find((each) => each.orderNo === orderNo);
	}
	await pause(500); // the last delivery arrived, and its listener may still be running
	return (await showMessages()).find((each) => each.orderNo === orderNo);
}

function row(message) {
	const root = element("li");
	root.append(element("span", "order-no", message.orderNo), element("strong", "", "delivered " + message.delivered + "×"),
		effect("reserved", message.reserved), effect("mailed", message.mailed), effect("counted", message.counted));
	return root;
}

function effect(name, times) {
	return element("span", "badge " + (times === 1 ? "executed" : times > 1 ? "refused" : "waiting"), name + " " + times + "×");
}
